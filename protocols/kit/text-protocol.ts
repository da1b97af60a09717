import { type AnswerTemplate, templateOf } from './answer.ts'
import type { Draft } from './draft.ts'
import { type Drawn, drawn, type Fields } from './drawn.ts'
import { DecodeError, eachReadable } from './errors.ts'
import { PLACES } from './fields.ts'
import { line as lineFramer } from './framing.ts'
import type { Fix, Framer, Match, Message, Protocol, Session } from './protocol.ts'
import { checkOf, type TextIntegrity } from './text-integrity.ts'

/** The answer to a line: text with `{field}`s of the line, or code. */
type Answer = string | ((draft: Draft, session: Session) => Message['reply'] | string)

/**
 * Makes the fix of a line or record; undefined if it has no coordinates. `draft.fix(session)` is the usual function.
 */
type FixHook = (draft: Draft, session: Session) => Fix | undefined

/** One kind of line of a protocol. It has a position or records; or `none` or `unknown` says why it has neither. */
interface TextLine {
  /** The line as a pattern of `drawn`, without its end. */
  readonly like: string
  /** Why a line of this kind has no position: 'login', 'heartbeat'. Where it has a place: why its fields are empty. */
  readonly none?: string
  /**
   * Lines of this kind are stored as they came and read again after an upgrade: the `type` is not known, or the
   * `position` has an unknown layout.
   */
  readonly unknown?: 'type' | 'position'
  readonly answer?: Answer
  /** What a device hears that is not configured. */
  readonly refusal?: string
  readonly fix?: FixHook
  /** The text of `{records}` holds several fixes; `like` is each of them, or the first of several patterns that fits. */
  readonly fixes?: { readonly split: string; readonly like: string | readonly string[] }
}

/** What `textProtocol` makes a protocol of. */
export interface TextDescription extends Pick<Protocol, 'name' | 'devices' | 'acknowledges' | 'escaping'> {
  /** How a checksum is written and what it covers; or why none is checked. Left out: the lines show none. */
  readonly integrity?: TextIntegrity
  readonly port: number
  /** Left out: tcp. */
  readonly transports?: readonly ('tcp' | 'udp')[]
  /** Left out: lines. */
  readonly frame?: Framer
  readonly starts?: (bytes: Buffer) => Match
  /** Characters that end a line, beside CR, LF and NUL, and are not drawn in it. */
  readonly ends?: string
  /** Fields of its own. */
  readonly fields?: Fields
  /** What stands for a value that the device does not know, beside an empty field: 'NA'. */
  readonly absent?: string
  /** The kinds of lines; the first that is like a frame counts. */
  readonly lines: readonly TextLine[]
  /** Takes the lines out of their envelope, before they are looked at; `bytes` are those of the text. @throws DecodeError */
  readonly before?: (text: string, session: Session, bytes: Buffer) => string
  readonly fix?: FixHook
}

/** A protocol of lines. Where the wire has binary frames as well, the protocol's own `decode` calls this one for lines. */
export interface TextProtocol extends Protocol {
  decode(frame: Buffer, session: Session): Message
}

/**
 * A protocol of text whose lines are drawn. A frame is a line in Latin-1; CR, LF, NUL and what
 * `ends` names do not count at its end, CR and LF not at its beginning, NUL nowhere.
 * @throws Error of a pattern or a line that cannot be: see `drawn`
 */
export function textProtocol(description: TextDescription): TextProtocol {
  const { name, devices, acknowledges, escaping, port, frame = lineFramer, starts } = description
  const { transports = ['tcp'] } = description
  const { integrity, check } = checkOf(description.integrity)
  const lines = description.lines.map((line) => new Line(line, description))
  const candidates = candidatesOf(lines)
  const { before } = description
  const ends = new Uint8Array(256)
  for (const byte of Buffer.from(`\r\n\0${description.ends ?? ''}`)) ends[byte] = 1
  const decode: TextProtocol['decode'] = (bytes, session) => {
    const end = endOf(bytes, ends)
    const start = startOf(bytes, end)
    let text = bytes.toString('latin1', start, end)
    if (check || before) {
      const trimmed = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
      check?.(trimmed, text, session)
      if (before) text = before(text, session, trimmed)
    }
    text = withoutNul(text)
    for (const line of candidates[text.charCodeAt(0)] ?? []) {
      const message = line.read(text, session)
      if (message) return message
    }
    throw new DecodeError(text === '' ? 'truncated' : 'unsupported')
  }
  if (!before) beginnings.set(decode, new Set(candidates.keys().filter((code) => candidates[code].length > 0)))
  return {
    name,
    devices,
    acknowledges,
    integrity,
    escaping,
    tcp: transports.includes('tcp') ? { port, frame, starts } : undefined,
    udp: transports.includes('udp') ? { port, frame } : undefined,
    decode,
  }
}

/** The bytes that a protocol's lines begin with, where that is known: a protocol of lines alone. */
export function beginningsOf({ decode }: Protocol): ReadonlySet<number> | undefined {
  return decode && beginnings.get(decode)
}

/** By their decoders: a protocol that has its own reads more than lines. */
const beginnings = new WeakMap<NonNullable<Protocol['decode']>, ReadonlySet<number>>()

/** Where the bytes at the end begin for which `ends` has a 1. */
function endOf(bytes: Buffer, ends: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && ends[bytes[end - 1]] === 1) end--
  return end
}

/** Where the line ends at the beginning end. */
function startOf(bytes: Buffer, end: number): number {
  let start = 0
  while (start < end && (bytes[start] === LF || bytes[start] === CR)) start++
  return start
}

/** The text without NUL, which fills up fields of fixed width. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

const LF = 0x0a
const CR = 0x0d

/** For each character the lines that may begin with it, in their order. */
function candidatesOf(lines: readonly Line[]): readonly (readonly Line[])[] {
  const always = lines.filter(({ prefix }) => prefix === '')
  const candidates = Array.from({ length: 256 }, () => always)
  for (const code of new Set(lines.filter(({ prefix }) => prefix !== '').map(({ prefix }) => prefix.charCodeAt(0))))
    candidates[code] = lines.filter(({ prefix }) => prefix === '' || prefix.charCodeAt(0) === code)
  return candidates
}

/** One kind of line, compiled. */
class Line {
  readonly prefix: string
  readonly #line: TextLine
  readonly #pattern: Drawn
  readonly #hasPlace: boolean
  readonly #records: readonly Drawn[]
  readonly #fix: FixHook
  readonly #answer: AnswerTemplate | Exclude<Answer, string> | undefined
  readonly #refusal: AnswerTemplate | undefined

  constructor(line: TextLine, { name, fields, absent, fix = usualFix }: TextDescription) {
    const options = { fields, absent }
    this.#line = line
    this.#pattern = drawn(line.like, options)
    this.prefix = this.#pattern.prefix
    this.#fix = line.fix ?? fix
    this.#records = [line.fixes?.like ?? []].flat().map((like) => drawn(like, options))
    this.#hasPlace = line.fix !== undefined || PLACES.some((place) => this.#pattern.names.has(place))
    const template = (text: string) => templateOf(text, this.#pattern.names)
    this.#answer = typeof line.answer === 'string' ? template(line.answer) : line.answer
    this.#refusal = line.refusal === undefined ? undefined : template(line.refusal)
    if (!this.#hasPlace && !line.fixes && line.none === undefined && line.unknown === undefined)
      throw new Error(`${name}: the line ${line.like} has no place: say in "none" why, or "unknown"`)
    if (line.fixes && !this.#pattern.names.has('records'))
      throw new Error(`${name}: the line ${line.like} has fixes, but no {records}`)
  }

  /** What a text says; undefined of another kind of line. */
  read(text: string, session: Session): Message | undefined {
    const draft = text.startsWith(this.prefix) ? this.#pattern.match(text, session) : undefined
    if (!draft) return undefined
    try {
      if (draft.fault) throw draft.fault
      if (this.#line.fixes) return this.#several(draft, session, this.#line.fixes.split)
      const fix = this.#hasPlace ? this.#fix(draft, session) : undefined
      return this.#message(draft, session, fix ? [fix] : [])
    } catch (error) {
      if (error instanceof DecodeError) error.envelope ??= this.#envelope(draft, session)
      throw error
    }
  }

  /** The device that a line names, and its answer. */
  #envelope(draft: Draft, session: Session): Message {
    const { device, secret } = draft
    return { device, secret, reply: bytesOf(this.#answer?.(draft, session)) }
  }

  #several(draft: Draft, session: Session, split: string): Message {
    const records = draft.text('records').split(split)
    if (records.at(-1) === '') records.pop()
    const { good, unreadable } = eachReadable(records, (text) => {
      const record = this.#record(text, session)
      record.device ??= draft.device
      const fix = this.#fix(record, session)
      draft.device ??= record.device
      if (fix && record.device !== draft.device) fix.device ??= record.device
      return fix
    })
    draft.count = good.length
    const fixes = good.filter((fix) => fix !== undefined)
    return { ...this.#message(draft, session, fixes), unreadable }
  }

  #record(text: string, session: Session): Draft {
    for (const pattern of this.#records) {
      const draft = pattern.match(text, session)
      if (draft) return draft
    }
    throw new DecodeError('malformed', `the record "${text.slice(0, 40)}"`)
  }

  #message(draft: Draft, session: Session, fixes: Fix[]): Message {
    const { device, secret } = draft
    const { none, unknown } = this.#line
    const reply = bytesOf(this.#answer?.(draft, session))
    if (fixes.length > 0) return { device, secret, fixes, reply }
    const { said } = draft
    if (unknown) return { device, secret, fixes: unknown === 'position' ? [] : undefined, said, reply }
    const why = draft.none ?? (draft.hasNoClock ? 'no date' : (none ?? 'no place'))
    return { device, secret, none: why, said, reply, refusal: bytesOf(this.#refusal?.(draft, session)) }
  }
}

const usualFix: FixHook = (draft, session) => draft.fix(session)

function bytesOf<Bytes extends Message['reply']>(answer: Bytes | string): Bytes | Buffer {
  return typeof answer === 'string' ? Buffer.from(answer, 'latin1') : answer
}
