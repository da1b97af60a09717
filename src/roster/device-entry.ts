import { hash, timingSafeEqual } from 'node:crypto'
import type { BlockList } from 'node:net'
import type { Settings } from '../../protocols/kit/index.ts'
import type { Device } from '../config/devices.ts'
import { sameId } from '../domain/ids.ts'
import { networksOf } from '../domain/networks.ts'
import type { Interval } from '../domain/times.ts'
import { type Assignment, partsOf } from './assignment.ts'

/** One courier on one route. */
export interface Lane {
  readonly company: string
  readonly courier: string
  readonly route: string
  /** `company/courier/route` */
  readonly key: string
}

/** A lane, the time for which it holds (unix seconds, `until` exclusive), and the line that it comes from. */
export interface Stay extends Interval {
  readonly lane: Lane
  readonly source: string
}

/** A device, with values derived for the path of its frames. It never changes: a change creates another one. */
export interface DeviceEntry extends Device {
  /** Settings for its protocol's decoder: `settings`, `model` and `timeZone`. */
  readonly protocolSettings: Settings
  /**
   * Proof required from a sender; undefined: the device id is enough. `networks`: those of the entry, for looking up
   * addresses.
   */
  readonly guard: { readonly hasSecret: boolean; readonly networks?: BlockList } | undefined
  /** The lanes of its assignments, in order of time, without overlaps. */
  readonly stays: readonly Stay[]
  /** The lane of its own courier and route, for all other times. */
  readonly usual?: Stay
}

/** Derives the entry of a device; `lines`: its assignments as written. */
export function entryOf(device: Device, lines: readonly Assignment[]): DeviceEntry {
  const { company_id, courier_id = '', route_id, source } = device
  const stays = partsOf(lines).map((line): Stay => {
    const lane = laneOf(company_id, line.courier_id || courier_id, line.route_id)
    return { lane, from: line.from, until: line.until, source: line.source }
  })
  const isRouted = courier_id !== '' && route_id !== undefined
  const usual = isRouted
    ? { lane: laneOf(company_id, courier_id, route_id), from: -Infinity, until: Infinity, source }
    : undefined
  return { ...device, protocolSettings: protocolSettings(device), guard: guardOf(device), stays, usual }
}

/** Returns a device without derived values. */
export function plainDevice(entry: Device | DeviceEntry): Device {
  const { protocolSettings: _settings, guard: _guard, stays: _stays, usual: _usual, ...device } = entry as DeviceEntry
  return device
}

function laneOf(company: string, courier: string, route: string): Lane {
  return { company, courier, route, key: `${company}/${courier}/${route}` }
}

function guardOf(device: Device): DeviceEntry['guard'] {
  const hasSecret = (device.secretDigest ?? device.previousSecretDigest) !== undefined
  const { client_certificate, networks, protocol, transports } = device
  if (!hasSecret && !(client_certificate ?? networks ?? protocol ?? transports)) return undefined
  return { hasSecret, networks: networks && networksOf(networks) }
}

function protocolSettings({ settings, model, time_zone }: Device): Settings {
  if (settings === undefined && model === undefined && time_zone === undefined) return NO_SETTINGS
  return { ...settings, ...(model !== undefined && { model }), ...(time_zone !== undefined && { timeZone: time_zone }) }
}

/** Returns whether a device belonged to its company at a time, ms UTC; data stored then are the company's. */
export function belongedAt({ companySince = -Infinity }: Pick<Device, 'companySince'>, at: number): boolean {
  return at >= companySince
}

/** Whether a device has a route at some time of an interval. */
export function hasRoute(device: DeviceEntry | undefined, { from, until }: Interval): boolean {
  if (!device) return false
  return device.usual !== undefined || device.stays.some((stay) => stay.from < until && stay.until > from)
}

/** Where a device is within an interval, unix seconds, in order of time: parts of its stays, and its usual one at all other times. */
export function staysWithin({ stays, usual }: Pick<DeviceEntry, 'stays' | 'usual'>, { from, until }: Interval): Stay[] {
  const within: Stay[] = []
  let reached = from
  for (const stay of stays) {
    if (stay.until <= from || stay.from >= until) continue
    if (usual && stay.from > reached) within.push({ ...usual, from: reached, until: stay.from })
    const part = { ...stay, from: Math.max(stay.from, from), until: Math.min(stay.until, until) }
    within.push(part)
    reached = part.until
  }
  if (usual && reached < until) within.push({ ...usual, from: reached, until })
  return within
}

/** Every lane that a device has at any time. */
export function lanesOf({ stays, usual }: DeviceEntry): Lane[] {
  return (usual ? [...stays, usual] : stays).map(({ lane }) => lane)
}

/** A device as the roster stores it, with digests in place of its secrets. */
export function withoutSecret<Some extends Omit<Device, 'source'>>({ secret, previous_secret, ...device }: Some) {
  const { id } = device
  return {
    ...device,
    ...(secret !== undefined && { secretDigest: digestOf(id, secret) }),
    ...(previous_secret !== undefined && { previousSecretDigest: digestOf(id, previous_secret) }),
  }
}

/** The digests of a device's secrets in the roster. */
export type SecretDigests = Pick<Device, 'secretDigest' | 'previousSecretDigest'>

/** Whether this is the secret of a device of the roster, or its previous one; each compared in constant time. */
export function isSecretOf(device: SecretDigests, presented: string): boolean {
  return [device.secretDigest, device.previousSecretDigest].some((digest) => {
    const [salt, expected] = digest?.split(':') ?? []
    return digest !== undefined && timingSafeEqual(salted(salt, presented), Buffer.from(expected, 'base64url'))
  })
}

/**
 * Returns a salt, and the SHA-256 of salt and secret, from which a strong secret cannot be found. The salt is derived from
 * the device's id, so that reading a file again does not change its devices.
 */
function digestOf(id: string, secret: string): string {
  const salt = hash('sha256', `waybridge ${sameId(id)}`, 'base64url').slice(0, 22)
  return `${salt}:${salted(salt, secret).toString('base64url')}`
}

function salted(salt: string, secret: string): Buffer {
  return hash('sha256', `${salt}:${secret}`, 'buffer')
}

const NO_SETTINGS: Settings = {}
