import { networkOf } from '../domain/addresses.ts'
import { observations } from '../observe/observations.ts'
import { recordedDevices } from '../store/device-record.ts'
import { type Shard } from '../store/index.ts'
import { say } from '../texts/text.ts'

/** Passes guesses on to other gateways. */
interface GuessFollower {
  /** A wrong secret was presented here. */
  failed(device: string, address: string): void
  /** A device has presented its right secret after a wrong one was counted. */
  accepted(device: string): void
}

/**
 * Slows down senders that guess secrets: after a few wrong secrets for a device from a network (/24, IPv6 /56), further ones
 * are not even compared for a second, then two, four, up to a minute. A device that has presented its secret is not slowed
 * down, and from then on neither are guesses: the device may share its network with an attacker, as behind the NAT of a
 * carrier. What protects it then is the limit of failures, and a secret that is hard to guess.
 */
export class GuessDelays {
  /** By device and network, the latest last. */
  readonly #guessers = new Map<string, { wrong: number; at: number; until: number }>()
  /** Devices that have presented their secret, here or at another gateway, now or before a restart. */
  readonly #accepted = new Set<string>()
  #follower: GuessFollower | undefined

  follow(follower: GuessFollower): void {
    this.#follower = follower
  }

  /** Notes that a device has presented its secret, here or at another gateway. */
  accepted(device: string): void {
    if (this.#accepted.has(device)) return
    const [oldest] = this.#accepted.size >= MAX_ACCEPTED ? this.#accepted : []
    if (oldest !== undefined) this.#accepted.delete(oldest)
    this.#accepted.add(device)
  }

  /** Whether a secret for the device from this address is not looked at now. `now`: ms of a monotonic clock. */
  isDelayed(device: string, address: string, now = performance.now()): boolean {
    const guesser = this.#accepted.has(device) ? undefined : this.#guessers.get(keyOf(device, address))
    if (!guesser || now >= guesser.until) return false
    note(device, address, guesser.wrong)
    return true
  }

  /** A secret for the device from this address was wrong. */
  failed(device: string, address: string, now = performance.now()): void {
    this.count(device, address, now)
    this.#follower?.failed(device, address)
  }

  /** A secret was wrong, here or at another gateway. */
  count(device: string, address: string, now = performance.now()): void {
    const key = keyOf(device, address)
    const before = this.#guessers.get(key)
    const wrong = before && now - before.at < FORGOTTEN_MS ? before.wrong + 1 : 1
    this.#guessers.delete(key)
    const [oldest] = this.#guessers.size >= MAX_GUESSERS ? this.#guessers.keys() : []
    if (oldest !== undefined) this.#guessers.delete(oldest)
    const delay = wrong > FREE_GUESSES ? Math.min(FIRST_MS * 2 ** (wrong - FREE_GUESSES - 1), LONGEST_MS) : 0
    this.#guessers.set(key, { wrong, at: now, until: now + delay })
    if (delay > 0) note(device, address, wrong)
    if (this.#accepted.has(device)) this.#follower?.accepted(device)
  }
}

/**
 * Notes the devices of a shard that were heard before this gateway started as proved. Otherwise an attacker that guesses
 * after a restart would lock them out. Waits while the shard is away.
 */
export async function rememberHeard(shard: Shard, guesses: Pick<GuessDelays, 'accepted'>): Promise<void> {
  try {
    for await (const devices of recordedDevices(shard)) for (const device of devices) guesses.accepted(device)
  } catch {
    shard.once('ready', () => void rememberHeard(shard, guesses))
  }
}

function keyOf(device: string, address: string): string {
  return `${networkOf(address)} ${device}`
}

function note(device: string, address: string, wrong: number): void {
  observations.note('guessing', {
    subject: { device },
    evidence: say('{} wrong secrets from {}', wrong, networkOf(address)),
  })
}

/** Allows for a person's typing errors, and for a device that repeats a refused message. */
const FREE_GUESSES = 5
const FIRST_MS = 1000
const LONGEST_MS = 60_000
const FORGOTTEN_MS = 3_600_000
const MAX_GUESSERS = 50_000
const MAX_ACCEPTED = 200_000
