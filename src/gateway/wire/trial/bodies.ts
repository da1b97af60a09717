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
  readonly #room: BodyRoom
  #parts: Buffer[] = []
  #length = 0
  #isComplete = false
  #isDropped = false

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Whether it is not kept any more. */
  get isDropped(): boolean {
    return this.#isDropped
  }

  /** undefined: it is not kept, or not complete. */
  get whole(): Buffer | undefined {
    return this.#isComplete && !this.#isDropped ? Buffer.concat(this.#parts) : undefined
  }

  add(bytes: Buffer): void {
    if (this.#isDropped) return
    if (this.#length + bytes.length > this.#room.mostOfOne || this.#room.isFull) return this.drop()
    this.#parts.push(bytes)
    this.#length += bytes.length
    this.#room.take(bytes.length)
  }

  end(): void {
    this.#isComplete = true
  }

  /** Frees its memory. Call it at the end. */
  drop(): void {
    this.#room.give(this.#length)
    this.#isDropped = true
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
  /** Whether the whole body has arrived. */
  isEnded = false
  /** Chunks that are read and not passed on. */
  #read: Buffer[] = []
  readonly #beginning = Promise.withResolvers<void>()

  constructor(request: IncomingMessage, room: BodyRoom) {
    this.#request = request
    this.copy = new BodyCopy(room)
    request.on('data', this.#keep).on('end', this.#end).on('close', this.#beginning.resolve)
    request.on('error', () => {})
  }

  /** Whether the whole body has arrived and is kept. */
  get isWhole(): boolean {
    return this.isEnded && !this.copy.isDropped
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
    if (this.isEnded) return void passed.end()
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
    this.isEnded = true
    this.copy.end()
    this.#beginning.resolve()
  }
}

const MOST_COPIED = 32 << 20
