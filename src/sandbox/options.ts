import { protocolPorts } from '../../protocols/index.ts'
import { nearest, unknownName } from '../config/problem.ts'
import { duration } from '../domain/units.ts'
import { UserError } from '../errors.ts'
import type { Ports } from '../process/role-process.ts'
import { MAX_VANS } from './fleet.ts'
import { type Speech, speeches } from './speak/index.ts'

/** A number of vans. @throws UserError. */
export function vansOption(text: string): number {
  return wholeNumber('--vans', text, MAX_VANS)
}

/** A whole number from 1. @throws UserError, naming the option. */
export function wholeNumber(option: string, text: string, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most) throw new UserError(`${option} ${text}: expected a whole number from 1 to ${most}.`)
  return value
}

/** A duration in ms; without a unit, seconds. @throws UserError, naming the option. */
export function durationOption(option: string, text: string, leastMs: number): number {
  const ms = duration(/^\d+$/.test(text) ? `${text}s` : text)
  if (ms === undefined) throw new UserError(`${option} ${text}: expected a duration such as 500ms, 15s or 5m.`)
  if (ms < leastMs) throw new UserError(`${option} ${text}: at least ${leastMs / 1000}s.`)
  return ms
}

/**
 * The speeches that a list such as `teltonika,gt06,mqtt` names: by protocol, by transport, or by their own name
 * (`teltonika-udp`). @throws UserError for an unknown name, with the known ones.
 */
export function speechesOption(text: string): Speech[] {
  const names = text.split(',').map((name) => name.trim())
  const chosen = new Set(names.flatMap(speechesNamed))
  return speeches.filter((speech) => chosen.has(speech))
}

function speechesNamed(name: string): Speech[] {
  const found = speeches.filter((speech) => namesOf(speech).includes(name))
  if (found.length > 0) return found
  const near = nearest(name, speeches.flatMap(namesOf))
  const hint = near === undefined ? '.' : `: did you mean ${near}?`
  const known = [...new Set(speeches.map(({ protocol }) => protocol))].join(', ')
  throw new UserError(
    `--protocols: "${name}": unknown protocol${hint} Vans speak ${known}; tcp, udp, http and mqtt name all of a transport.`,
  )
}

function namesOf({ name, protocol, transport }: Speech): string[] {
  return [protocol, transport, name]
}

/** The usual ports, changed by `gt06=5999` (over every transport), `udp/teltonika=5999`, `mqtt=1884`. @throws UserError. */
export function portsOption(changes: readonly string[]): Ports {
  const ports = { ...usualPorts() }
  for (const change of changes) {
    const [, name, port] = /^([^=]+)=(\d{1,5})$/.exec(change) ?? []
    if (port === undefined) throw new UserError(`--port ${change}: expected a name and a port, such as teltonika=5027.`)
    const places = Object.keys(ports).filter((place) => place === name || place.endsWith(`/${name}`))
    if (places.length === 0)
      throw new UserError(`--port ${change}: ${unknownName('listener', name, Object.keys(ports))}`)
    for (const place of places) ports[place] = wholeNumber('--port', port, 65_535)
  }
  return ports
}

/** The usual port of every protocol. */
export function usualPorts(): Ports {
  const transports = ['tcp', 'udp', 'http'] as const
  const listeners = protocolPorts.flatMap((protocol) =>
    transports.flatMap((transport) => {
      const port = protocol[transport]
      return port === undefined ? [] : [[`${transport}/${protocol.name}`, port] as const]
    }),
  )
  return Object.fromEntries([...listeners, ['mqtt', 1883]])
}

/** Returns the port for a speech. @throws UserError if there is none. */
export function portOf({ transport, protocol }: Speech, ports: Ports): number {
  const name = transport === 'mqtt' ? 'mqtt' : `${transport}/${protocol}`
  const port = ports[name]
  if (port === undefined)
    throw new UserError(
      `The gateway has no listener for ${name}: leave it out of --protocols, or name its port with --port.`,
    )
  return port
}
