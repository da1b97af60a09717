import { english, type Text, withStrings } from '../texts/text.ts'

const MINUTE_MS = 60_000

/**
 * The codes of observations, each with the ms for which one holds unless it is repeated: a minute, or a few seconds for
 * states that are checked every few seconds or noted continuously. src/diagnose explains each code and the action.
 */
const HOLDS_MS = {
  clock_ahead: MINUTE_MS,
  own_clock: 5000,
  held_full: MINUTE_MS,
  held_too_long: MINUTE_MS,
  unknown_refused: MINUTE_MS,
  marks_full: MINUTE_MS,
  parked_full: 8000,
  redis_full: 5000,
  not_stored: 10_000,
  not_understood: MINUTE_MS,
  slow_script: 10_000,
  event_loop_delay: 10_000,
  flood: 10_000,
  guesses_refused: 10_000,
  connections_full: 10_000,
  device_connections: MINUTE_MS,
  one_address: MINUTE_MS,
  open_files: 10_000,
  guessing: MINUTE_MS,
  wrong_secret: MINUTE_MS,
  not_permitted: MINUTE_MS,
  claimed_twice: MINUTE_MS,
  impossible_move: MINUTE_MS,
  certificate_expires: 5000,
  certificate_refused: 5000,
  config_refused: 1000,
  restart_needed: 1000,
  enrolment_open: 5000,
  wrong_port: MINUTE_MS,
  port_taken: 8000,
  bridge_down: 8000,
  trial_unreachable: 5000,
  checksum_errors: MINUTE_MS,
  no_id: MINUTE_MS,
  plain_to_tls: MINUTE_MS,
  push_full: 10_000,
  copy_failing: 5000,
  copy_full: MINUTE_MS,
} satisfies Record<string, number>
export type ObservationCode = keyof typeof HOLDS_MS

/** Returns whether a finding comes from observations; their count tells how often it was observed. */
export function isObservation(code: string): code is ObservationCode {
  return Object.hasOwn(HOLDS_MS, code)
}

/** The subject of an observation; empty: the whole system. */
export interface Subject {
  readonly device?: string
  readonly company_id?: string
  readonly courier_id?: string
  readonly route_id?: string
  readonly listener?: string
  readonly process?: string
  /** A tracking API, if there are several: `api.example`. */
  readonly api?: string
  /** A file of the configuration, by its path in the configuration folder. */
  readonly file?: string
  readonly host?: string
  /** The name of a roster that is pulled. */
  readonly pull?: string
  /** A receiver of alerts: `alerts.webhooks[0] (hooks.example)`. */
  readonly receiver?: string
  /** The name of a copy. */
  readonly copy?: string
}

/** The same thing, observed once or often, about one subject. Instants in ms UTC. */
export interface Observation {
  readonly code: ObservationCode
  readonly subject: Subject
  sinceAt: number
  lastAt: number
  count: number
  /** The latest different texts, at most `MAX_EVIDENCE`. Never a secret. */
  evidence: readonly Text[]
}

/**
 * The observations of this process. It keeps at most `MAX_SUBJECTS`; further subjects of a code are counted together, so that
 * a sender who invents ids cannot use up memory. An observation ends if it is not repeated within the time in `HOLDS_MS`.
 */
export class Observations {
  readonly #observed = new Map<string, Observation>()
  readonly #lasting = new Set<() => void>()
  /** The devices about which something is observed. Only this class writes it. */
  readonly devices = new Set<string>()

  /** Notes that something is observed (again), with what shows it; `now`: when it came, ms UTC. */
  note(code: ObservationCode, { subject = {}, evidence = '', now = Date.now() }: NoteDetails = {}): void {
    const own = `${code} ${JSON.stringify(subject)}`
    const isKept = this.#observed.has(own) || this.#observed.size < MAX_SUBJECTS
    const key = isKept ? own : code
    const known = this.#observed.get(key)
    const observation = known ?? {
      code,
      subject: isKept ? subject : {},
      sinceAt: now,
      lastAt: now,
      count: 0,
      evidence: [],
    }
    if (!known) this.#observed.set(key, observation)
    if (observation.subject.device !== undefined) this.devices.add(observation.subject.device)
    observation.count++
    observation.sinceAt = Math.min(now, observation.sinceAt)
    observation.lastAt = Math.max(now, observation.lastAt)
    const shown = cut(evidence)
    const words = english(shown)
    if (words !== '' && !observation.evidence.some((other) => english(other) === words))
      observation.evidence = [...observation.evidence, shown].slice(-MAX_EVIDENCE)
  }

  /** Notes a continuing state: its count and its evidence replace the earlier ones. */
  noteState(code: ObservationCode, { subject, evidence, count }: StateDetails): void {
    const key = `${code} ${JSON.stringify(subject)}`
    const lastAt = Date.now()
    const sinceAt = Math.min(this.#observed.get(key)?.sinceAt ?? lastAt, lastAt)
    this.#observed.set(key, {
      code,
      subject,
      sinceAt,
      lastAt,
      count,
      evidence: evidence.slice(0, MAX_EVIDENCE).map(cut),
    })
  }

  /**
   * Ends observations of a device because their opposite was seen, except those of the last five seconds: otherwise two
   * senders with one id would begin and end them in turns.
   */
  over(device: string, codes: readonly ObservationCode[], now = Date.now()): void {
    for (const [key, { code, lastAt, subject }] of this.#observed)
      if (subject.device === device && codes.includes(code) && now - lastAt >= QUIET_MS) this.#observed.delete(key)
    this.#count()
  }

  /** Calls `note` before each answer of `current`, to note a state that lasts. Returns what ends that. */
  noteLasting(note: () => void): () => void {
    this.#lasting.add(note)
    return () => void this.#lasting.delete(note)
  }

  /** A process asks once a second, see store/processes.ts. */
  current(now = Date.now()): Observation[] {
    for (const note of this.#lasting) note()
    for (const [key, { code, lastAt }] of this.#observed)
      if (Math.abs(now - lastAt) > HOLDS_MS[code]) this.#observed.delete(key)
    this.#count()
    return [...this.#observed.values()]
  }

  #count(): void {
    this.devices.clear()
    for (const { subject } of this.#observed.values())
      if (subject.device !== undefined) this.devices.add(subject.device)
  }
}

function cut(evidence: Text): Text {
  return withStrings(evidence, (string) => string.slice(0, MAX_EVIDENCE_LENGTH))
}

interface NoteDetails {
  readonly subject?: Subject
  readonly evidence?: Text
  readonly now?: number
}

interface StateDetails {
  readonly subject: Subject
  readonly evidence: readonly Text[]
  readonly count: number
}

/** The observations of this process; like `metrics`, there is one object for the whole process. */
export const observations = new Observations()

const QUIET_MS = 5000
const MAX_SUBJECTS = 500
const MAX_EVIDENCE = 5
const MAX_EVIDENCE_LENGTH = 200
