/** How bytes reach a decoder. */
export type Transport = 'tcp' | 'udp' | 'http' | 'mqtt'

/**
 * Finds the end of the first frame of a stream, from the bytes that have arrived.
 * n > 0: the frame is n bytes long; 0: the frame is not complete yet; −n: the first n bytes are noise, no frame begins there.
 * It never throws.
 */
export type Framer = (bytes: Buffer) => number

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

/** What a decoder has to know of a configured device, from its entry in devices.yaml. */
export interface Settings {
  readonly model?: string
  /** IANA name or offset. A device with a time zone reports local time, which the ingest converts to UTC. */
  readonly timeZone?: string
  readonly [option: string]: unknown
}

/**
 * The memory of one conversation: a TCP connection, a UDP peer, an MQTT client, one HTTP request. A protocol keeps its own
 * state of a session in a `WeakMap<Session, …>`.
 */
export interface Session {
  /** The device, once a message has named it and the roster knows it. The caller of `decode` sets it. */
  device?: string
  /** Settings of `device`; empty before it is known. */
  settings: Settings
  /** The secret that the device presented: the password of MQTT or of a login. The caller of `decode` sets it. */
  secret?: string
  readonly transport: Transport
  /** When the frame arrived, ms UTC: the only clock that a decoder may read. */
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

/** What one frame said. `reply` is data: the caller sends it, after the fixes are stored. */
export interface Message {
  /** The id in the frame itself; absent where the login of the connection named the device. */
  readonly device?: string
  /** The device's secret in the frame: a password or token. */
  readonly secret?: string
  readonly fixes?: Fix[]
  /** How many entries of the frame could not be read where others could: these are answered for too, and counted. */
  readonly unreadable?: number
  /** The answer to the device once every fix of this message is stored (at once where there is none). */
  readonly reply?: Buffer
  /** The answer to a device that is not configured, before its connection is closed. */
  readonly refusal?: Buffer
}

/** One tracker protocol. */
export interface Protocol {
  /** Folder name, log label, last word of the MQTT topic. */
  readonly name: string
  /** The devices that speak it, for people: 'Concox and Jimi GT06N, GT06E, WeTrack2 …'. */
  readonly devices: string
  /** Which fixes the protocol acknowledges: all, those in some kinds of frames, or none. */
  readonly acknowledges: 'fixes' | 'some' | 'nothing'
  /** `starts` recognises the protocol on a shared port, by the first bytes of a stream. */
  readonly tcp?: { readonly port: number; readonly frame: Framer; readonly starts?: (bytes: Buffer) => Match }
  /** A datagram is one frame; with `frame` it may hold several. */
  readonly udp?: { readonly port: number; readonly frame?: Framer }
  /** `frame` reduces a request to the bytes that `decode` reads. */
  readonly http?: { readonly port: number; readonly frame: (request: HttpRequest) => Buffer }
  /**
   * Reads one frame. It is pure, except for the protocol's own state of the session.
   * @throws DecodeError where the frame is damaged or of another protocol.
   */
  decode(frame: Buffer, session: Session): Message
}
