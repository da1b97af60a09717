import type { ClientRequest, IncomingMessage } from 'node:http'
import { ByteRoom } from './old-server.ts'

/** A bound on the bodies that a listener copies: on each, and on all together. */
export class BodyRoom extends ByteRoom {
  readonly mostOfOne: number

  constructor(mostOfOne: number) {
    super(MOST_COPIED)
    this.mostOfOne = mostOfOne
  }
}

/** A body that is kept while it passes, if it is short enough and there is room. */
export class BodyCopy {
  /** Whether all of it has arrived. Only this class writes it. */
  isComplete = false
  /** Whether it is not kept any more. Only this class writes it. */
  isDropped = false
  readonly #room: BodyRoom
  #parts: Buffer[] = []
  #length = 0

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Whether all of it has arrived and is kept. */
  get isWhole(): boolean {
    return this.isComplete && !this.isDropped
  }

  /** undefined: it is not whole. */
  get whole(): Buffer | undefined {
    return this.isWhole ? Buffer.concat(this.#parts) : undefined
  }

  add(bytes: Buffer): void {
    if (this.isDropped) return
    if (this.#length + bytes.length > this.#room.mostOfOne || this.#room.isFull) return this.drop()
    this.#parts.push(bytes)
    this.#length += bytes.length
    this.#room.take(bytes.length)
  }

  end(): void {
    this.isComplete = true
  }

  /** Frees its memory. Call it at the end. */
  drop(): void {
    this.#room.give(this.#length)
    this.isDropped = true
    this.#parts = []
    this.#length = 0
  }
}

/**
 * The body of a request. It is read as it arrives, before the request has its turn, because a client that does not wait for
 * answers may have left by then.
 */
export class RequestBody {
  readonly copy: BodyCopy
  readonly #request: IncomingMessage
  /** Chunks that are read and not passed on. */
  #read: Buffer[] = []
  readonly #beginning = Promise.withResolvers<void>()

  constructor(request: IncomingMessage, room: BodyRoom) {
    this.#request = request
    this.copy = new BodyCopy(room)
    request.on('data', this.#keep).on('end', this.#end).on('close', this.#beginning.resolve)
    request.on('error', () => {})
  }

  /** Resolves once the whole body has arrived, or after some ms; earlier if it is too long to keep, or its client has left. */
  async beginning(ms: number): Promise<void> {
    const timer = setTimeout(this.#beginning.resolve, ms)
    await this.#beginning.promise
    clearTimeout(timer)
  }

  /** Passes the body on: the chunks that have arrived, and later ones as they arrive. */
  passTo(passed: ClientRequest): void {
    this.#request.off('data', this.#keep)
    for (const bytes of this.#read) passed.write(bytes)
    this.#read = []
    if (this.copy.isComplete) return void passed.end()
    this.#request.on('data', (bytes: Buffer) => this.copy.add(bytes))
    this.#request.pipe(passed)
  }

  readonly #keep = (bytes: Buffer) => {
    this.copy.add(bytes)
    this.#read.push(bytes)
    if (!this.copy.isDropped) return
    this.#request.off('data', this.#keep).pause()
    this.#beginning.resolve()
  }

  readonly #end = () => {
    this.copy.end()
    this.#beginning.resolve()
  }
}

const MOST_COPIED = 32 << 20
