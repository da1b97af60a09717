import type { Said } from './said.ts'

/** How bytes reach a decoder. */
export type Transport = 'tcp' | 'udp' | 'http' | 'mqtt'

/**
 * Finds the end of the first frame of a stream, from the bytes that have arrived.
 * n > 0: the frame is n bytes long; 0: the frame is not complete yet; −n: the first n bytes are noise, no frame begins there.
 * It never throws, and knows nothing of the conversation but what `StreamState` remembers of its stream.
 */
export type Framer = (bytes: Buffer, stream: Stream) => number

/** What framers and decoders remember of a stream, by owner: see `StreamState`. */
export interface Stream {
  states?: Map<object, unknown>
}

/** The state that one framer or decoder keeps in each stream. */
export class StreamState<State> {
  of(stream: Stream): State | undefined {
    return stream.states?.get(this) as State | undefined
  }

  set(stream: Stream, state: State): State {
    stream.states ??= new Map()
    stream.states.set(this, state)
    return state
  }

  drop(stream: Stream): void {
    stream.states?.delete(this)
  }
}

/** Whether a stream is of a protocol, by its first bytes; `maybe`: more bytes are needed. */
export type Match = 'yes' | 'no' | 'maybe'

/** One HTTP request; the names of `headers` are in lower case. */
export interface HttpRequest {
  readonly method: string
  /** Path and query, as in the request line. */
  readonly uri: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** The answer to one HTTP request. Left out: 200, no headers, no body. */
export interface HttpAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

/** What a decoder has to know of a configured device, from its entry in devices.yaml. */
export interface Settings {
  readonly model?: string
  /** IANA name or offset. A device with a time zone reports local time, which the ingest converts to UTC. */
  readonly timeZone?: string
  readonly [option: string]: unknown
}

/**
 * The memory of one conversation: a TCP connection, a UDP peer, an MQTT client, one HTTP request. A protocol keeps its own
 * state of a session with `sessionState`: a few numbers, since nobody counts them. What grows with what a device sends is in
 * `unfinished`.
 */
export interface Session extends Stream {
  /** The device, once a message has named it and the roster knows it. The caller of `decode` sets it. */
  device?: string
  /**
   * Returns the settings of a device, by default of `device`; none if it is not known. A decoder asks for them once it
   * has read the id, and the secret where the frame has it: it is called once for each frame.
   */
  settingsOf(device?: string, secret?: string): Settings
  /** The secret that the device presented: the password of MQTT or of a login. The caller of `decode` sets it. */
  secret?: string
  readonly transport: Transport
  /** When the frame arrived, ms UTC: the only clock that a decoder may read. */
  now: number
  /** Accept wrong checksums. */
  lenient: boolean
  /** Whether the checksum of the last frame was looked at, and fitted; `verify` sets it. */
  hasVerified?: boolean
  /** The parts of a message that have arrived, if it comes in parts: see `assemble`. Its owner may drop them at any time. */
  unfinished?: UnfinishedMessage
}

/** The parts of a message that is not whole. */
export interface UnfinishedMessage {
  /** What it takes of memory. */
  readonly bytes: number
}

/** The `settingsOf` of a session without a roster. */
export const noSettings = (): Settings => NONE

const NONE: Settings = {}

/** One position as the device measured it. Keys without a value are left out or undefined. */
export interface Fix {
  /** The device of this fix, if the frame holds fixes of several devices; undefined: the device of the message. */
  device?: string
  /** ms UTC (local where the device reports local time: see `Settings.timeZone`). */
  time: number
  /** Degrees WGS 84, north positive. */
  latitude: number
  /** Degrees WGS 84, east positive. */
  longitude: number
  /** Whether the device itself calls this a fix. */
  valid: boolean
  /** Metres above sea level. */
  altitude?: number
  /** Metres a second. */
  speed?: number
  /** Degrees from true north, 0 ≤ heading < 360. */
  heading?: number
  /** The device's own estimate of its error, metres. */
  accuracy?: number
  hdop?: number
  satellites?: number
  /** What the tracker said of itself and its vehicle then: see `said`. */
  said?: Said
}

/** A frame that is encrypted with the secret of its device: a secretbox of libsodium, under the secret and zeros up to 32 bytes. */
export interface Sealed {
  readonly nonce: Buffer
  readonly box: Buffer
  /** Reads what the box holds. @throws DecodeError */
  read(content: Buffer, session: Session): Message
}

/**
 * What one frame said. `reply` is data: the caller sends it, after the fixes are stored.
 *
 * A frame that holds no position says why in `none`. Where a decoder gives neither fixes nor `none`, the frame is stored as
 * it is before it is answered, and decoded again after an upgrade: with `fixes: []` it is of a type that holds positions, of
 * which none could be read; without `fixes` the decoder does not know its type.
 */
export interface Message {
  /** The id in the frame itself; absent where the login of the connection named the device. */
  readonly device?: string
  /** The device's secret in the frame: a password or token. */
  readonly secret?: string
  readonly fixes?: readonly Fix[]
  /**
   * What only the secret of `device` opens; `fixes` are empty then. The caller puts what `read` gives in place of the message. A sender
   * whose frame the secret of the device opens has proved that it has it.
   */
  readonly sealed?: Sealed
  /**
   * Why it holds no position: its type has none ('login', 'heartbeat'), or the frame says so ('no fix', 'cells'). In JSON, parameters
   * and HTTP requests it only counts where nothing looks like a place: see `decodeFrame`.
   */
  readonly none?: string
  /**
   * The entries of the frame that could not be read where others could, by their positions from 0 on: these are answered for
   * too, where the protocol cannot refuse single entries, and counted.
   */
  readonly unreadable?: readonly number[]
  /** What the tracker says of itself, where that belongs to no fix: of a frame without a position. */
  readonly said?: Said
  /** The answer to the device, sent once all fixes of this message are stored; at once if it has none. */
  readonly reply?: Buffer | readonly Buffer[]
  /** The same for an HTTP request. */
  readonly response?: HttpAnswer
  /** The answer to a device that is not configured, before its connection is closed. */
  readonly refusal?: Buffer
}

/** What the checksum of a protocol covers: its name and the bytes of a frame; or why none is checked that its frames show. */
export type Integrity = { readonly checksum: string; readonly covers: Covered } | { readonly none: string }

/** As `slice` counts the bytes of a frame; a function where the place depends on the frame. */
export type Covered = readonly [from: number, to: number] | ((frame: Buffer) => readonly [from: number, to: number])

/** How bytes that mark frames are written within a frame: `escape` and one of `codes` for the byte that stands beside it. */
export interface Escaping {
  readonly escape: number
  readonly codes: ReadonlyMap<number, number>
  /** Codes of bytes that also stand as they are, where they separate fields or in frames of another kind. */
  readonly optional?: ReadonlyMap<number, number>
}

/** How a tracker is pointed at a server: SMS to send, or settings of an app. */
export interface Setup {
  /** The vendor's document that says so. */
  readonly manual: string
  /** How the steps are done; default: each is an SMS to the tracker. */
  readonly by?: 'settings'
  /** In their order, with `{host}`, `{port}`, `{apn}`, `{user}` and `{password}` (of the APN) to fill in. */
  readonly steps: readonly string[]
  readonly note?: string
}

/** One tracker protocol. */
export interface Protocol {
  /** Folder name, log label, last word of the MQTT topic. */
  readonly name: string
  /** The devices that speak it, for people: 'Concox and Jimi GT06N, GT06E, WeTrack2 …'. */
  readonly devices: string
  /** Which fixes the protocol acknowledges: all, or those in some kinds of frames. Left out: none. */
  readonly acknowledges?: 'fixes' | 'some'
  /** Left out: its frames show no checksum. */
  readonly integrity?: Integrity
  /** Left out: bytes that mark frames stand as they are within a frame. */
  readonly escaping?: Escaping
  /** `starts` recognises the protocol on a shared port by the first bytes, where their content does not decide. */
  readonly tcp?: { readonly port: number; readonly frame: Framer; readonly starts?: (bytes: Buffer) => Match }
  /** A datagram is one frame; with `frame` it may hold several. */
  readonly udp?: { readonly port: number; readonly frame?: Framer }
  readonly http?: { readonly port: number }
  /**
   * Whether a member of its JSON is, or holds, a place that is not that of the device: of a base station, or a waypoint. In all
   * other members a message without a position is searched for a place that the decoder has not read (place-search.ts).
   */
  readonly isPlaceOfOthers?: (name: string, value: unknown) => boolean
  /**
   * Reads one frame. It is pure, except for the protocol's own state of the session.
   * @throws DecodeError where the frame is damaged or of another protocol.
   */
  decode?(frame: Buffer, session: Session): Message
  /** Reads one HTTP request, in the same way. @throws DecodeError */
  request?(request: HttpRequest, session: Session): Message
}

/** A protocol's own state of each session; `initial` makes it when it is first asked for. */
export function sessionState<State extends object>(initial: () => State): (stream: Stream) => State {
  const states = new StreamState<State>()
  return (stream) => states.of(stream) ?? states.set(stream, initial())
}
