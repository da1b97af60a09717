import { within } from '../../async.ts'
import type { LostSender } from '../../diagnose/device-facts.ts'
import { sameId } from '../../domain/ids.ts'
import type { Roster } from '../../roster/roster.ts'
import type { ArrivedSender } from '../../store/arrivals.ts'
import { keys, type Redis } from '../../store/index.ts'

/**
 * Finds the protocol that a misunderstood sender seems to speak, and the port of that protocol; `device`: the id in its
 * bytes.
 */
export type FindSpoken = (sender: ArrivedSender, device: string) => Promise<LostSender['speaks']>

interface LostSenderSources {
  readonly redis: Redis
  readonly directory: () => Roster
  readonly speaks?: FindSpoken
}

/** The latest senders that no protocol understood although their bytes contain the id of a configured device. */
export class LostSenders {
  readonly #sources: LostSenderSources
  readonly #byDevice = new Map<string, LostSender>()
  /** Ids found since the last call. */
  #found = new Set<string>()
  #latest = ''

  constructor(sources: LostSenderSources) {
    this.#sources = sources
  }

  /** The sender with this device's id in the last hour before `now` (ms UTC). `key`: the id without leading zeros. */
  of(key: string, now: number): LostSender | undefined {
    const sender = this.#byDevice.get(key)
    return sender && now - sender.at < HOUR_MS ? sender : undefined
  }

  /** Reads the senders that came since the last call. Returns the ids of the devices that they name. */
  async look(): Promise<Set<string>> {
    const { redis, directory } = this.#sources
    const before = this.#latest
    const [latest = ''] = await redis.lrange(keys.arrivals, 0, 0)
    if (latest === before) return this.#takeFound()
    this.#latest = latest
    if (latest === '') this.#byDevice.clear()
    const all = await redis.lrange(keys.arrivals, 0, -1)
    const known = all.indexOf(before)
    const latestOf = new Map<string, ArrivedSender>()
    for (const json of all.slice(0, known < 0 ? undefined : known).toReversed()) {
      const sender = JSON.parse(json) as ArrivedSender
      const entry = idsIn(Buffer.from(sender.bytes ?? '', 'hex')).flatMap((id) => directory().find(id) ?? [])[0]
      if (!entry) continue
      this.#note(sameId(entry.id), sender)
      latestOf.set(sameId(entry.id), sender)
    }
    // Loading the decoders takes long on a busy machine: senders that are not decoded in time are added later.
    await within(SOON_MS, Promise.all(Array.from(latestOf, ([key, sender]) => this.#findSpoken(key, sender))))
    return this.#takeFound()
  }

  #note(key: string, { at, address, port, protocol }: ArrivedSender): void {
    const before = this.of(key, at)
    const speaks = before?.port === port ? before?.speaks : undefined
    this.#set(key, { at, sinceAt: before?.sinceAt ?? at, address, port, protocol, speaks })
  }

  async #findSpoken(key: string, sender: ArrivedSender): Promise<void> {
    if (this.#byDevice.get(key)?.speaks) return
    const speaks = await this.#sources.speaks?.(sender, key)
    const noted = this.#byDevice.get(key)
    if (speaks && noted && noted.port === sender.port) this.#set(key, { ...noted, speaks })
  }

  #set(key: string, sender: LostSender): void {
    this.#byDevice.set(key, sender)
    this.#found.add(key)
  }

  #takeFound(): Set<string> {
    const found = this.#found
    this.#found = new Set()
    return found
  }
}

/** Returns possible ids in the first bytes of a sender: words of a text, and BCD digits. */
function idsIn(bytes: Buffer): string[] {
  const words = bytes.toString('latin1').match(/[\w-]{6,64}/g) ?? []
  const numbers = bytes.toString('latin1').match(/\d{10,}/g) ?? []
  const packed = bytes.toString('hex').match(/\d{10,}/g) ?? []
  return [...words, ...numbers, ...packed.flatMap(partsOf)]
}

/** All ids of 10 to 17 digits that may be part of a longer row of digits. */
function partsOf(digits: string): string[] {
  const parts: string[] = []
  for (let length = Math.min(17, digits.length); length >= 10; length--)
    for (let at = 0; at + length <= digits.length; at++) parts.push(digits.slice(at, at + length))
  return parts
}

const HOUR_MS = 3_600_000
const SOON_MS = 1000
