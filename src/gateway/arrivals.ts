import { setTimeout as sleep } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import { addressOf, networkOf } from '../domain/addresses.ts'
import { MAX_ID_BYTES, sameId } from '../domain/ids.ts'
import { wordsOf } from '../masking.ts'
import { guarded, logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { isSecretOf } from '../roster/device-entry.ts'
import type { Replica } from '../roster/replica.ts'
import { type ArrivedSender, UNKNOWN_LISTS } from '../store/arrivals.ts'
import { heldAmong, keys, type Store } from '../store/index.ts'
import { joined, type Text, withStrings } from '../texts/text.ts'
import type { Conversation } from './conversation.ts'
import type { IdentityReason } from './identity.ts'
import { Masking } from './frame-description.ts'
import type { MessageSource } from './outcome.ts'
import { RoundRobin } from './round-robin.ts'

/** The first bytes of a sender that no protocol understood, and the protocols that they may be. */
interface NotUnderstood {
  /** Undefined over MQTT. */
  readonly port: number | undefined
  readonly protocol: string | undefined
  readonly bytes: Buffer
  /** The JSON body of a request, kept so that people can define a mapping for it. */
  readonly json?: Buffer
  readonly guesses: readonly {
    readonly protocol: { readonly name: string }
    readonly secret?: string
    readonly evidence: readonly Text[]
  }[]
}

/** A sender that was not understood, with secrets still unmasked. */
interface Unmasked extends ArrivedSender {
  /** As latin1. */
  readonly text: string
  readonly body: string
  /** The secrets that it presented, also if its protocol is a guess. */
  readonly secrets: readonly (string | undefined)[]
}

export interface ArrivalsOptions {
  readonly redis: Store
  readonly maxDevices: number
  readonly replica: Pick<Replica, 'roster'>
  readonly logger: Logger
}

/**
 * Keeps in Redis the senders that are not configured or not understood. No frame waits for that.
 */
export class Arrivals {
  readonly #options: ArrivalsOptions
  readonly #unmasked = new RoundRobin<Unmasked>()
  #masking: Promise<void> | undefined
  /** JSON, latest last. */
  #notUnderstood: string[] = []
  #networks = new Map<string, number>()
  #devices = new Map<string, ArrivedSender>()
  #writes = 0

  constructor(options: ArrivalsOptions) {
    this.#options = options
  }

  /**
   * Notes a sender that was not understood: only a few of a network in ten seconds, so that no network fills the list.
   */
  notUnderstood(session: Conversation, beginning: NotUnderstood): void {
    const { connectedAt, now, presented, remote, transport } = session
    const { port, protocol, bytes, json, guesses } = beginning
    if (!this.#isAdmitted(remote)) return
    const evidence = guesses
      .slice(0, MAX_GUESSES)
      .map((guess) => joined([guess.protocol.name, joined(guess.evidence, ', ')], ': '))
    const at = Math.max(now, connectedAt)
    const guessed = guesses[0]?.protocol.name
    const arrival = { at, address: remote, transport, port, protocol, evidence, guessed }
    const secrets = [presented, ...guesses.map(({ secret }) => secret)].filter((secret) => !isShort(secret))
    const text = bytes.toString('latin1', 0, MASKED_BYTES)
    const body = json && json.length <= JSON_BYTES ? json.toString('latin1') : ''
    this.#unmasked.add(networkOf(addressOf(remote)), { ...arrival, secrets, text, body })
    if (this.#unmasked.size > KEPT) this.#unmasked.drop()
    if (!this.#masking) guarded(() => (this.#masking = this.#maskAll()), this.#onFault)
  }

  readonly #onFault = (error: unknown) =>
    logFault(this.#options.logger, error, { what: 'fault in masking what was not understood' })

  async #maskAll(): Promise<void> {
    try {
      for (let next = this.#unmasked.next(); next; next = this.#unmasked.next()) await this.#mask(next)
    } finally {
      // Nothing may be awaited from here on: a sender that comes later must find that no masking runs.
      this.#masking = undefined
    }
  }

  /** Masks the secrets of a sender that was not understood; before that nothing of it is stored or shown. */
  async #mask({ evidence, secrets, text, body, ...sender }: Unmasked): Promise<void> {
    const words = wordsOf(text)
    const found = await this.#secretsAmong(words)
    const masking = new Masking([...secrets, ...(found ?? [])])
    const shown = masking.mask(found ? this.#withoutCutSecret(text) : this.#withoutWords(text)).slice(0, SHOWN_BYTES)
    const bytes = Buffer.from(shown, 'latin1').toString('hex')
    const mask = (string: string) => masking.mask(found ? string : this.#withoutWords(string, words))
    const said = evidence.map((each) => withStrings(each, mask))
    const json = body === '' ? undefined : await this.#maskedJson(body, secrets)
    this.#notUnderstood.push(JSON.stringify({ ...sender, evidence: said, bytes, json } satisfies ArrivedSender))
    if (this.#notUnderstood.length > KEPT) this.#notUnderstood.shift()
  }

  /** Returns the JSON without secrets; undefined if there are too many words and devices to compare. */
  async #maskedJson(body: string, secrets: Unmasked['secrets']): Promise<string | undefined> {
    const words = wordsOf(body)
    const found = words.size < MOST_JSON_WORDS ? await this.#secretsAmong(words) : undefined
    return found && Buffer.from(new Masking([...secrets, ...found]).mask(body), 'latin1').toString()
  }

  /**
   * Resolves to the words that are the secret of any device; undefined if there are too many words and devices to compare.
   * Takes at most a tenth of the process's time, and a second.
   */
  async #secretsAmong(words: ReadonlySet<string>): Promise<string[] | undefined> {
    const found: string[] = []
    let begunAt = performance.now()
    let compared = 0
    for (const entry of this.#options.replica.roster.secrets()) {
      if ((compared += words.size) > MOST_COMPARED) return undefined
      for (const word of words) if (isSecretOf(entry, word)) found.push(word)
      if (performance.now() - begunAt < SLICE_MS) continue
      await sleep(9 * SLICE_MS)
      begunAt = performance.now()
    }
    return found
  }

  /** Returns the text with asterisks in place of its words, except ids; `words`: replaces only these. */
  #withoutWords(text: string, words?: ReadonlySet<string>): string {
    return text.replace(NO_SPACES, (part) =>
      part.replace(WORDS, (word) => (words?.has(word) === false || this.#isId(word) ? word : '*'.repeat(word.length))),
    )
  }

  #isId(word: string): boolean {
    return IS_ID.test(word) || this.#options.replica.roster.find(word) !== undefined
  }

  /** The text with asterisks in place of a last word that is cut off: it may be a part of a secret. An id stays. */
  #withoutCutSecret(text: string): string {
    const { roster } = this.#options.replica
    if (roster.secrets().next().done) return text
    return text.replace(LAST_WORD, (word) => (this.#isId(word) ? word : '*'.repeat(word.length)))
  }

  /** Notes an unconfigured device whose message was accepted; its fixes are held. `fix`: the last of them. */
  unconfigured(device: string, { at, protocol, session, spoken }: MessageSource, fix?: Fix): void {
    const id = sameId(device)
    const known = this.#devices.get(id)
    if (!known && this.#devices.size >= this.#options.maxDevices) return
    const { evidence = [], port, remote: address, transport } = session
    const position = fix && { time: fix.time, latitude: fix.latitude, longitude: fix.longitude }
    const how = { transport, port, protocol: protocol?.name, evidence, isGuess: spoken?.isGuess }
    const arrival = { at, address, ...how, device, position }
    this.#devices.set(id, merged(known, arrival))
  }

  /** Notes a refused device if it is not configured. */
  refused(device: string, from: MessageSource, reason: IdentityReason): void {
    if (reason !== 'unknown_device' || device === '' || Buffer.byteLength(device) > MAX_ID_BYTES) return
    if (this.#options.replica.roster.find(device) || !this.#isAdmitted(from.session.remote)) return
    this.unconfigured(device, from)
  }

  async close(): Promise<void> {
    await within(LAST_MS, this.#masking ?? Promise.resolve())
    await this.write().catch(() => {})
  }

  #isAdmitted(remote: string): boolean {
    const network = networkOf(addressOf(remote))
    const count = this.#networks.get(network) ?? 0
    if (count >= PER_NETWORK || this.#networks.size >= MAX_NETWORKS) return false
    this.#networks.set(network, count + 1)
    return true
  }

  /** Writes the arrivals. Call it once a second. Rejects if Redis does not answer. */
  async write(): Promise<void> {
    const { redis } = this.#options
    if (this.#writes++ % FORGET_EVERY_S === 0) await this.#forget()
    if (this.#writes % 10 === 0) this.#networks = new Map()
    const connections = this.#notUnderstood.splice(0)
    const arrived = this.#devices
    this.#devices = new Map()
    try {
      const devices = arrived.size > 0 ? await this.#withKnown(arrived) : []
      if (connections.length + devices.length === 0) return
      const writes = redis.multi()
      if (connections.length > 0) writes.lpush(keys.arrivals, ...connections).ltrim(keys.arrivals, 0, KEPT - 1)
      if (devices.length > 0) writes.hset(keys.arrivedDevices, ...devices)
      await writes.exec()
    } catch (error) {
      this.#putBack(connections, arrived)
      throw error
    }
  }

  /** Puts back arrivals that could not be written, unless newer ones have come. */
  #putBack(connections: readonly string[], arrived: ReadonlyMap<string, ArrivedSender>): void {
    this.#notUnderstood = [...connections, ...this.#notUnderstood].slice(-KEPT)
    for (const [id, arrival] of arrived) {
      const newer = this.#devices.get(id)
      if (newer) this.#devices.set(id, merged(arrival, newer))
      else if (this.#devices.size < this.#options.maxDevices) this.#devices.set(id, arrival)
    }
  }

  /**
   * Returns the fields and values to write for devices: adds what is already known of each, and new devices while there is
   * room.
   */
  async #withKnown(arrived: ReadonlyMap<string, ArrivedSender>): Promise<string[]> {
    const { maxDevices, redis } = this.#options
    const ids = [...arrived.keys()]
    const known = await redis.hmget(keys.arrivedDevices, ...ids)
    const isNew = known.filter((json) => json === null).length
    let room = maxDevices - (await redis.hlen(keys.arrivedDevices))
    if (room < isNew) room += await this.#forget(isNew - room)
    return [...arrived].flatMap(([id, arrival], index) => {
      const json = known[index]
      if (json === null && --room < 0) return []
      return [id, JSON.stringify(merged(json === null ? undefined : (JSON.parse(json) as ArrivedSender), arrival))]
    })
  }

  /**
   * Forgets devices without held fixes: configured ones, those that were not heard for long, and `more` others, the
   * oldest ones. Returns how many.
   */
  async #forget(more = 0): Promise<number> {
    const { redis, replica } = this.#options
    const known = await redis.hgetall(keys.arrivedDevices)
    const ids = Object.keys(known)
    const held = new Set<string>()
    for (const lists of UNKNOWN_LISTS) for (const id of await heldAmong(redis, lists, ids)) held.add(id)
    const others = ids
      .filter((id) => !held.has(id) && !this.#devices.has(id))
      .map((id) => ({ id, at: (JSON.parse(known[id]) as ArrivedSender).at }))
      .toSorted((one, other) => one.at - other.at)
    const old = Date.now() - KEPT_MS
    const gone = others.filter(({ id, at }, index) => index < more || at < old || replica.roster.find(id))
    return gone.length > 0 ? redis.hdel(keys.arrivedDevices, ...gone.map(({ id }) => id)) : 0
  }
}

/** Completes the latest message of a sender with what is known of it: a login has no position, a user name no protocol. */
function merged(known: ArrivedSender | undefined, latest: ArrivedSender): ArrivedSender {
  const { position = known?.position, isGuess = known?.isGuess, ...rest } = latest
  if (latest.protocol !== undefined || !known) return { ...rest, position, isGuess }
  return { ...rest, position, isGuess, protocol: known.protocol, evidence: known.evidence }
}

/** Returns true for a secret so short that a wrong guess of the protocol may take any letter for it. */
function isShort(secret = ''): boolean {
  return secret.length < 4
}

const KEPT = 500
const SHOWN_BYTES = 256
/** Longer than the shown part, so that a secret at its end is complete. */
const MASKED_BYTES = 512
/** As many as are looked at for secrets. */
const JSON_BYTES = 4096
/** Of more words some are not looked at. */
const MOST_JSON_WORDS = 300
const LAST_WORD = /[\w+.~%^`\\-]+$/
/** A secret has at least four characters, not all of them spaces. */
// oxlint-disable-next-line no-control-regex
const NO_SPACES = /[^\s\0-\x1f\x7f]{4,}/g
const WORDS = /[\w+.~%^`\\\x80-\uffff-]+/g
/** About a tenth of a second of CPU time. */
const MOST_COMPARED = 20_000
const IS_ID = /^\d{10,}$/
const SLICE_MS = 5
const LAST_MS = 500
const PER_NETWORK = 10
const MAX_NETWORKS = 10_000
const MAX_GUESSES = 3
const FORGET_EVERY_S = 60
/** How long a device is listed after its last message if it has no held fixes. */
const KEPT_MS = 86_400_000
