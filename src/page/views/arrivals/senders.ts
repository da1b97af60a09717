import type { ArrivalJson } from '../../../admin/schemas/arrivals.ts'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'

/** Connections or datagrams of one sender: `latest` is the last one. For a device the admin port returns only one. */
export interface ArrivalSender {
  readonly key: string
  readonly latest: ArrivalJson
  readonly connections: number
  readonly firstAt: string
  /** The configured van that it claims to be, or whose id is in the bytes that were not understood. */
  readonly van?: DeviceRowJson
}

/**
 * Pure. Returns one sender for each device. Arrivals that were not understood are one sender for each van whose id is in the
 * bytes, else for each address at each port. `arrivals`: latest first, as the admin port returns them.
 */
export function sendersOf(arrivals: readonly ArrivalJson[], vans: readonly DeviceRowJson[]): ArrivalSender[] {
  const byId = new Map(vans.flatMap((van) => (van.configured ? [[sameId(van.id), van] as const] : [])))
  const senders = new Map<string, ArrivalSender>()
  for (const latest of arrivals) {
    const van = latest.device === undefined ? vanIn(latest.bytes, byId) : byId.get(sameId(latest.device))
    const key = keyOf(latest, van)
    const { at: firstAt } = latest
    const known = senders.get(key)
    const sender = known
      ? { ...known, connections: known.connections + 1, firstAt }
      : { key, latest, van, connections: 1, firstAt }
    senders.set(key, sender)
  }
  return [...senders.values()]
}

function keyOf({ address, device, port, transport }: ArrivalJson, van?: DeviceRowJson): string {
  if (device !== undefined) return `device ${device}`
  // The sender's port differs for each connection.
  return van ? `van ${van.id} ${transport} ${port}` : `${address.replace(/:\d+$/, '')} ${transport} ${port}`
}

/** Returns the van whose id is in the bytes, as text or as BCD digits. */
function vanIn(bytes: string | undefined, byId: ReadonlyMap<string, DeviceRowJson>): DeviceRowJson | undefined {
  if (!bytes) return undefined
  for (const id of [...idsInText(bytes), ...idsInDigits(bytes)]) {
    const van = byId.get(sameId(id))
    if (van) return van
  }
  return undefined
}

function idsInText(bytes: string): string[] {
  const text = bytes.replace(/../g, (hex) => String.fromCharCode(parseInt(hex, 16)))
  const words = text.match(/[\w.-]{4,}/g) ?? []
  return words.flatMap((word) => [word, ...(word.match(/\d{10,}/g) ?? [])])
}

/** IMEIs and similar ids begin at a whole byte; missing digits are zeros or a mark. */
function* idsInDigits(bytes: string): Iterable<string> {
  for (let at = 0; at + SHORTEST <= bytes.length; at += 2) {
    const [run = ''] = /^\d{10,16}/.exec(bytes.slice(at, at + LONGEST)) ?? []
    for (let length = run.length; length >= SHORTEST; length--) yield run.slice(0, length)
  }
}

/** Returns the common form of a device's ids. */
function sameId(id: string): string {
  return /^\d+$/.test(id) ? id.replace(/^0+(?=.)/, '') : id
}

const SHORTEST = 10
const LONGEST = 16
