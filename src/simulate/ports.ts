import { protocols } from '../../protocols/index.ts'
import { UserError } from '../errors.ts'
import type { Speech } from './speak/index.ts'

/** `tcp/teltonika`, `mqtt` … and the port, as in ports.json. */
export type Ports = Readonly<Record<string, number>>

/** Where every protocol usually listens. */
export function usualPorts(): Ports {
  const transports = ['tcp', 'udp', 'http'] as const
  const listeners = protocols.flatMap((protocol) =>
    transports.flatMap((transport) => {
      const port = protocol[transport]?.port
      return port === undefined ? [] : [[`${transport}/${protocol.name}`, port] as const]
    }),
  )
  return Object.fromEntries([...listeners, ['mqtt', 1883]])
}

/** The port that a way of speaking goes to. @throws UserError where there is none. */
export function portOf({ transport, protocol }: Speech, ports: Ports): number {
  const name = transport === 'mqtt' ? 'mqtt' : `${transport}/${protocol}`
  const port = ports[name]
  if (port === undefined) throw new UserError(`Nothing listens for ${name}: leave it out, or name its port.`)
  return port
}
