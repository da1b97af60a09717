import type { Protocol } from '../../protocols/kit/index.ts'
import { AUTO } from '../config/listener.ts'
import type { Config } from '../config/schema.ts'
import { addressOf } from '../domain/addresses.ts'
import { fittingZone, localFromUtc } from '../domain/times.ts'
import { observations } from '../observe/observations.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import { contentOf, type MisunderstoodFrame, shownBytes } from '../store/misunderstood-frame.ts'
import { joined, say } from '../texts/text.ts'
import type { Conversation } from './conversation.ts'
import { noteSuspicion } from './suspicion.ts'

/*
 * The findings that frames lead to, with their evidence. The Journal decides when.
 */

/** The port that a device speaks to, and the protocol that it is for. */
export interface UsedPort {
  readonly port: number
  readonly expected: Protocol
}

/** A configured port. */
export interface OwnPort extends Pick<Config['listeners'][number], 'port' | 'protocol' | 'transport'> {
  readonly tls?: object | null
}

/** Notes that a device speaks a protocol to the port of another one. `listeners`: the configured ones. */
export function noteWrongPort(
  { device = '', transport }: Conversation,
  { name }: Protocol,
  { at, listeners }: { readonly at: UsedPort; readonly listeners: readonly OwnPort[] },
): void {
  const alike = listeners.filter((each) => each.port > 0 && each.transport === transport)
  const isSecure = Boolean(alike.find(({ port }) => port === at.port)?.tls)
  const usable = alike.filter(({ tls }) => Boolean(tls) === isSecure)
  const portOf = (protocol: string) => usable.find((each) => each.protocol === protocol)?.port
  const [own, any] = [portOf(name), portOf(AUTO)]
  const texts = [
    say('speaks {} on port {} ({})', name, at.port, at.expected.name),
    own === undefined ? [] : say('port {} is for that', own),
    any === undefined ? [] : say('port {} is for all protocols', any),
  ]
  const evidence = joined(texts.flat(), '; ')
  observations.note('wrong_port', { subject: { device }, evidence })
}

/** Notes that datagrams without an id are not taken from an address which these devices have used. */
export function noteSharedAddress(remote: string, devices: readonly string[]): void {
  const evidence = say('another device has used {}: datagrams from there that name no device are not taken', remote)
  for (const device of devices) noteSuspicion(device, { code: 'claimed_twice', evidence })
}

/** Notes that the checksum of a frame does not fit; `device`: the configured one of its connection. */
export function noteDamage(
  { remote }: Conversation,
  { name }: Protocol,
  { device, now }: { readonly device: string | undefined; readonly now: number },
): void {
  const subject = device === undefined ? { listener: name } : { device }
  observations.note('checksum_errors', { subject, evidence: say('{} from {}', name, addressOf(remote)), now })
}

/** Notes a message that names no device. */
export function noteNoId(
  { name }: Protocol,
  { remote, transport, now }: Pick<Conversation, 'remote' | 'transport' | 'now'>,
): void {
  const evidence = say('{} over {} from {}', name, transport, addressOf(remote))
  observations.note('no_id', { subject: { listener: name }, evidence, now })
}

/** Notes that a device is ahead of our clock, and what would fit, if anything does. `ownMs`: by how much its own time is ahead of UTC. */
export function noteAhead({ id: device, time_zone }: DeviceEntry, ownMs: number, now: number): void {
  const set = time_zone === undefined ? 0 : localFromUtc(now, time_zone) - now
  const zone = fittingZone(ownMs)
  const fits = zone === undefined ? say('its clock is wrong') : say('time_zone "{}" would fit', zone)
  const evidence = say('about {} min ahead: {}', Math.round((ownMs - set) / 60_000), fits)
  observations.note('clock_ahead', { subject: { device }, evidence, now })
}

/** Adds a device to the finding about positions that cannot be read, with the beginning of such a frame. */
export function noteNotUnderstood(frame: MisunderstoodFrame): void {
  const { device, protocol } = frame
  const content = contentOf(frame)
  const shown = Buffer.isBuffer(content) ? shownBytes(content, SHOWN_BYTES) : { text: content.uri.slice(0, SHOWN_URI) }
  const evidence = `${protocol}: ${'hex' in shown ? shown.hex : shown.text.trim()}`
  observations.note('not_understood', { subject: { device }, evidence, now: frame.at })
}

const SHOWN_BYTES = 24
const SHOWN_URI = 100
