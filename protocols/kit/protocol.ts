/** How bytes reach a decoder. */
export type Transport = 'tcp' | 'udp' | 'http' | 'mqtt'

/**
 * Where the first frame of a stream ends, from its first bytes:
 * n > 0: the frame is n bytes long; 0: not all of it is here yet; −n: the first n bytes are noise, no frame begins there.
 * Never throws, and never reads beyond `bytes`.
 */
export type Framer = (bytes: Buffer) => number

/** Whether a stream that begins with these bytes speaks a protocol; `maybe`: more bytes are needed to tell. */
export type Match = 'yes' | 'no' | 'maybe'

/** One HTTP request as a listener presents it; `headers` in lower case. */
export interface HttpRequest {
  readonly method: string
  /** Path and query as they stood in the request line. */
  readonly uri: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** What a configured device needs to be understood, from its entry in devices.yaml. */
export interface Settings {
  readonly model?: string
  /** IANA name or offset. A device that has one reports local time; whoever normalises its fixes converts them. */
  readonly timeZone?: string
  readonly [option: string]: unknown
}

/**
 * The memory of one conversation: a TCP connection, a UDP peer, an MQTT client, one HTTP request. A protocol keeps what
 * is its own in a `WeakMap<Session, …>`.
 */
export interface Session {
  /** Who speaks, once a message has said so and the directory knows it. Set by the caller of `decode`, never by it. */
  device?: string
  /** Of `device`; empty before it is known. */
  settings: Settings
  /** What the speaker presented to prove it: an MQTT password, a login's. Set by the caller of `decode`. */
  secret?: string
  readonly transport: Transport
  /** When the frame arrived, ms UTC: the only clock that a decoder may look at. */
  now: number
  /** Accept wrong checksums. */
  lenient: boolean
}

/** One position as the device measured it. Keys without a value are left out or undefined. */
export interface Fix {
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
}

/** What one frame said. `reply` is data: it is sent by the caller, after the fixes are stored. */
export interface Message {
  /** The id that the frame itself carries; absent where the connection's login said it. */
  readonly device?: string
  /** What the frame presents to prove that it is the device (a password, a token). */
  readonly secret?: string
  readonly fixes?: Fix[]
  /** How many of the frame's entries could not be read, where others could: they are answered for, and counted. */
  readonly unreadable?: number
  /** What the device is answered once every fix of this message is stored (at once where there is none). */
  readonly reply?: Buffer
  /** What a device that is not ours is answered before its connection ends. */
  readonly refusal?: Buffer
}

/** One tracker protocol. */
export interface Protocol {
  /** Folder name, log label, last word of the MQTT topic. */
  readonly name: string
  /** Who speaks it, for people: 'Concox and Jimi GT06N, GT06E, WeTrack2 …'. */
  readonly devices: string
  /** Of which fixes a device hears that they are stored: of all; of those in some kinds of frames; of none. */
  readonly acknowledges: 'fixes' | 'some' | 'nothing'
  /** `starts`: whether a stream's first bytes are this protocol's, to find it on a shared port. */
  readonly tcp?: { readonly port: number; readonly frame: Framer; readonly starts?: (bytes: Buffer) => Match }
  /** A datagram is one frame; with `frame` it may hold several. */
  readonly udp?: { readonly port: number; readonly frame?: Framer }
  /** `frame` reduces a request to the bytes that `decode` reads. */
  readonly http?: { readonly port: number; readonly frame: (request: HttpRequest) => Buffer }
  /**
   * Reads one frame. Pure but for the protocol's memory of the session.
   * @throws DecodeError where the frame is damaged or is none of this protocol's.
   */
  decode(frame: Buffer, session: Session): Message
}
