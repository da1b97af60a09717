import {
  cut,
  DecodeError,
  decodeFrame,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
} from '../../protocols/kit/index.ts'
import { cpuOf, MOST_CPU_MS } from '../support/cost.ts'

/** What one connection sends, and what is wrong with how it is heard. */
export class Hearing {
  readonly #protocol: Protocol
  readonly #session: Session
  /** Whether it is a stream: else each frame is whole, as in a datagram, a publication or a request. */
  readonly #isStream: boolean
  #rest = Buffer.alloc(0)
  /** Messages and refused frames so far. */
  heard = 0
  refused = 0

  constructor(protocol: Protocol, session: Session, isStream: boolean) {
    this.#protocol = protocol
    this.#session = session
    this.#isStream = isStream && protocol.tcp !== undefined
  }

  /** Hears a frame, which over a stream arrives in two parts. @returns what is wrong, in words; undefined: nothing */
  hear(frame: Buffer | HttpRequest, cutAt: number): string | undefined {
    const begun = performance.now()
    const wrong = this.#hear(frame, cutAt)
    const took = performance.now() - begun
    return wrong ?? (took > MOST_CPU_MS ? this.#measured(frame) : undefined)
  }

  #hear(frame: Buffer | HttpRequest, cutAt: number): string | undefined {
    if (!this.#isStream || !Buffer.isBuffer(frame)) return this.#decode(frame)
    return this.#receive(frame.subarray(0, cutAt)) ?? this.#receive(frame.subarray(cutAt))
  }

  #receive(bytes: Buffer): string | undefined {
    const { tcp } = this.#protocol
    if (!tcp || bytes.length === 0) return undefined
    let stream: Buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    while (stream.length > 0) {
      const length = tcp.frame(stream, this.#session)
      if (!Number.isInteger(length) || Math.abs(length) > stream.length)
        return `the framer answers ${length} for ${stream.length} bytes: ${stream.toString('hex')}`
      if (length === 0) break
      const wrong = length > 0 ? this.#decode(stream.subarray(0, length)) : undefined
      if (wrong !== undefined) return wrong
      stream = stream.subarray(Math.abs(length))
    }
    // A gateway ends the connection of a frame that never ends.
    this.#rest = stream.length > MAX_REST ? Buffer.alloc(0) : Buffer.from(stream)
    return undefined
  }

  #decode(frame: Buffer | HttpRequest): string | undefined {
    try {
      const message = decodeFrame(this.#protocol, frame, this.#session)
      if (typeof message.device === 'string') this.#session.device = message.device
      this.heard++
      return faultOf(message)
    } catch (error) {
      this.refused++
      if (error instanceof DecodeError) return undefined
      return `it throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    }
  }

  /** Measures again what took long: the machine may have done something else. */
  #measured(frame: Buffer | HttpRequest): string | undefined {
    const cost = cpuOf(() => {
      const session = { ...this.#session }
      if (this.#isStream && this.#protocol.tcp && Buffer.isBuffer(frame)) cut(frame, this.#protocol.tcp.frame, session)
      try {
        decodeFrame(this.#protocol, frame, session)
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error
      }
    })
    return cost > MOST_CPU_MS ? `it takes ${cost.toFixed(1)} ms of CPU` : undefined
  }
}

const MAX_REST = 65_536

/** What is wrong with a message, whatever the frame was. */
function faultOf({ device, fixes = [], none, unreadable = [], reply, refusal }: Message): string | undefined {
  for (const fix of fixes) {
    for (const [name, value] of Object.entries(fix))
      if (typeof value === 'number' && !Number.isFinite(value)) return `${name} is ${value}`
    if (typeof fix.valid !== 'boolean') return `valid is ${String(fix.valid)}`
    for (const name of ['time', 'latitude', 'longitude'] as const)
      if (typeof fix[name] !== 'number') return `${name} is ${String(fix[name])}`
    if (fix.heading !== undefined && !(fix.heading >= 0 && fix.heading < 360)) return `heading is ${fix.heading}`
  }
  if (device !== undefined && (typeof device !== 'string' || device === ''))
    return `device is ${JSON.stringify(device)}`
  if (none !== undefined && fixes.length > 0) return `none is ${none}, and there are fixes`
  if (unreadable.some((position) => !Number.isInteger(position) || position < 0)) return 'unreadable is no position'
  if (![...repliesOf(reply), ...repliesOf(refusal)].every((each) => Buffer.isBuffer(each))) return 'a reply is no bytes'
  return undefined
}
