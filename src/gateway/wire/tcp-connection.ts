import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { guarded, logFault } from '../../observe/faults.ts'
import { metrics, type RefusedReason } from '../../observe/metrics.ts'
import { type Origin, sessionOf } from '../admit/acceptor.ts'
import { type Connections, type DeviceConnection, pauseOf } from '../admit/connections.ts'
import { MAX_DEBT_MS, SenderLimits } from '../admit/flood.ts'
import { bytesReceived, bytesSent, connectionBegan } from '../air.ts'
import { type Conversation } from '../conversation.ts'
import { answeredIn, type Outcome } from '../outcome.ts'
import { QUIET_MS } from './detect.ts'
import { type FrameGroup, FrameStream } from './frame-stream.ts'
import type { Shared } from './listener.ts'
import { isMisunderstood, isStored, learnFrom, type PortRules } from './protocol-choice.ts'

const CONNECTION = Symbol('connection')
type ConnectionSocket = Socket & { readonly [CONNECTION]: TcpConnection }

/** What the connections of one listener share. */
export type TcpContext = Shared &
  PortRules & {
    readonly connections: Connections<TcpConnection>
    isClosing: boolean
  }

/**
 * One connection: reads bytes, hands frames to `ingest`, and writes replies in the order of the frames, once these are
 * stored. While frames are being stored the connection is not read, so that TCP slows down a device that sends faster than
 * Redis stores.
 */
export class TcpConnection implements DeviceConnection {
  readonly session: Conversation
  readonly senderLimits: SenderLimits
  slotDevice?: string
  namedAt?: number
  readonly idleMs: number
  unidentifiedSince = performance.now()
  heardAt = this.unidentifiedSince
  partialBytes = 0
  storing = 0
  isInQueue = false
  readonly #context: TcpContext
  readonly #socket: Socket
  readonly #stream: FrameStream
  /** Whether frames are being taken; bytes that arrive during that time are kept. */
  #isTaking = false
  #quiet: NodeJS.Timeout | undefined
  /** How many bytes had arrived when the sender was quiet last. */
  #quietLength = 0

  constructor(context: TcpContext, socket: Socket, origin: Origin) {
    this.#context = context
    this.#socket = socket
    this.session = sessionOf('tcp', origin, { port: context.port })
    this.#stream = new FrameStream(context, this.session)
    this.senderLimits = new SenderLimits(context.flood, origin.address)
    this.idleMs = context.limits.idle_timeout
    connectionBegan(this.session)
    socket.setNoDelay(true)
    Object.assign(socket, { [CONNECTION]: this })
      .on('data', TcpConnection.#receive)
      .on('end', TcpConnection.#endReading)
      .on('error', destroy)
      .on('close', TcpConnection.#closed)
  }

  stopReading(): void {
    this.#socket.pause()
  }

  startReading(): void {
    if (!this.#isTaking) this.#socket.resume()
  }

  abort(reason: RefusedReason): void {
    this.session.endFor(reason)
    metrics.refused.inc({ reason })
    this.#socket.destroy()
  }

  /** Reads nothing more, and ends once the frames that were read are answered. */
  close(): void {
    this.#socket.pause()
    if (this.#isUndecided) void this.#takeAll(true)
    else if (this.storing === 0) this.#socket.destroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Bytes have arrived. One function serves all sockets: one for each would take memory. */
  static #receive(this: ConnectionSocket, bytes: Buffer): void {
    const { [CONNECTION]: connection } = this
    bytesReceived(connection.session, bytes.length)
    if (!this.writable) return
    const { received } = connection.#stream
    received.append(bytes)
    if (!connection.#isTaking) return void connection.#takeAll()
    this.pause()
    connection.#context.pressure.setPartial(connection, received.size)
  }

  static #closed(this: ConnectionSocket): void {
    const { [CONNECTION]: connection } = this
    const { connections, logger } = connection.#context
    connections.remove(connection)
    clearTimeout(connection.#quiet)
    guarded(
      () => connection.#end(),
      (error) => logFault(logger, error, { what: 'fault in keeping what was not understood' }),
    )
  }

  /** Takes the bytes of a connection that the device has reset before its protocol was clear. */
  async #end(): Promise<void> {
    const [stream, { ended }] = [this.#stream, this.session]
    if (ended === undefined && this.#isUndecided) {
      await stream.decideInQuiet()
      const group = await stream.cutUnidentified()
      if (group) await this.#store(group)
    }
    stream.end()
  }

  /** Whether it waits for the sender to be quiet, and there is time to detect its protocol at once. */
  get #isUndecided(): boolean {
    const { detector } = this.#context
    const { length } = this.#stream.received.bytes
    const waits = this.session.device === undefined && !this.#isTaking && length > 0 && length !== this.#quietLength
    return waits && detector?.budget.mustWait === false
  }

  /** Handles the end of the device's half of the connection. */
  static #endReading(this: ConnectionSocket): void {
    if (!this[CONNECTION].#isTaking) this[CONNECTION].#continue()
  }

  /**
   * Takes the received frames, one group at a time, until none is complete. `isQuiet`: the sender waits, and frames are taken
   * only if the protocol is now clear.
   */
  async #takeAll(isQuiet = false): Promise<void> {
    const { detector, pressure } = this.#context
    const [socket, stream, session] = [this.#socket, this.#stream, this.session]
    this.#isTaking = true
    clearTimeout(this.#quiet)
    try {
      if (isQuiet) await this.#decideInQuiet()
      while (socket.writable) {
        const group = session.device === undefined ? await this.#cutInTurn() : stream.cut()
        if (!socket.writable) break
        const { size } = stream.received
        if (size !== this.partialBytes) pressure.setPartial(this, size)
        if (!group) break
        const arrivedAt = performance.now()
        const { protocol, frames, isStopped } = group
        const hadStored = session.hasStoredAsOwn
        const outcomes = await this.#store(group)
        if (!hadStored) learnFrom(session, protocol, detector)
        if (socket.destroyed) break
        pressure.unfinished.look(session)
        if (!session.device && outcomes.every(isMisunderstood) && (await stream.isOfAnother(group))) continue
        const isUsual =
          this.slotDevice !== undefined && outcomes.every((each) => each.status === 'stored' && !each.isAtOnce)
        if (!isUsual) await this.#waitToAnswer(outcomes, answeredIn(outcomes, arrivedAt))
        if (!socket.writable) break
        this.#answer(frames, outcomes)
        const pausedMs = this.senderLimits.read(frames.length, group.taken, session)
        if (pausedMs > 0) await this.#pause(pausedMs)
        else if (isStopped) await setImmediate()
      }
      this.#continue()
    } catch (error) {
      const at = { device: session.device, protocol: stream.protocol?.name }
      this.#context.journal.fault(error, { what: 'fault in handling a frame', ...at })
      socket.destroy()
    }
  }

  /** Stores the frames of a group, whose bytes count as in flight until then. Resolves to the outcome of each. */
  async #store({ frames, protocol, taken }: FrameGroup): Promise<readonly Outcome[]> {
    const { ingest, pressure } = this.#context
    this.storing = Math.max(1, frames.length)
    pressure.add(taken, frames.length)
    try {
      // Most frames arrive alone.
      if (frames.length === 1) return [await ingest.take(frames[0], this.session, protocol)]
      return await Promise.all(frames.map((frame) => ingest.take(frame, this.session, protocol)))
    } finally {
      pressure.add(-taken, -frames.length)
    }
  }

  #decideInQuiet(): Promise<void> {
    this.#quietLength = this.#stream.received.bytes.length
    return this.#inQueue(this.#stream.decideInQuiet())
  }

  #inQueue<Result>(waiting: Promise<Result>): Promise<Result> {
    this.isInQueue = true
    return waiting.finally(() => (this.isInQueue = false))
  }

  /** Cuts off the next frames of a connection without a device, which may have to wait until its protocol is found out. */
  #cutInTurn(): Promise<FrameGroup | undefined> {
    const { detector, pressure } = this.#context
    // Its bytes are in memory until then.
    if (detector?.budget.mustWait) pressure.setPartial(this, this.#stream.received.size)
    return this.#inQueue(this.#stream.cutUnidentified())
  }

  /** Waits because the sender met a limit, which counts as silence; ends the connection if that is too long. */
  async #pause(ms: number): Promise<void> {
    if (ms >= MAX_DEBT_MS) return this.abort('flood')
    const { storing } = this
    this.storing = 0
    await pauseOf(this.#socket, ms)
    this.storing = storing
  }

  /** Waits before the answers for at least this time; longer if the sender failed or logged in too often. */
  async #waitToAnswer(outcomes: readonly Outcome[], leastMs: number): Promise<void> {
    const { device } = this.session
    let failed = 0
    for (const { status } of outcomes)
      if (status === 'refused' || (status !== 'not_stored' && device === undefined)) failed++
    let ms = this.senderLimits.failed(failed)
    const isLogin = device !== undefined && this.slotDevice === undefined
    if (isLogin) {
      this.#stream.settle(outcomes.some(isStored))
      ms = Math.max(ms, this.senderLimits.identified(this.session))
    }
    if (ms > leastMs) await this.#pause(ms)
    else if (leastMs > 0) await pauseOf(this.#socket, leastMs)
    if (isLogin && !this.#socket.destroyed) this.#context.slots.identified(this, device)
  }

  #answer(frames: readonly Buffer[], outcomes: readonly Outcome[]): void {
    const replies: Buffer[] = []
    for (let index = 0; index < outcomes.length; index++) {
      const outcome = outcomes[index]
      if (outcome.status === 'refused' || outcome.status === 'not_stored') {
        this.session.endFor(outcome.status === 'refused' ? outcome.reason : outcome.status)
        return this.#finish(outcome.status === 'refused' && outcome.refusal ? [...replies, outcome.refusal] : replies)
      }
      // A ping before the login has no meaning.
      const isNoise = outcome.status === 'misunderstood' || this.session.device === undefined
      this.#stream.noise = isNoise ? this.#stream.noise + frames[index].length : 0
      if (outcome.status === 'misunderstood') continue
      this.heardAt = performance.now()
      const { reply = [] } = outcome
      if (Buffer.isBuffer(reply)) replies.push(reply)
      else replies.push(...reply)
    }
    if (replies.length > 0) this.#socket.write(this.#written(replies))
  }

  /** The bytes of replies, which are written now. */
  #written(replies: readonly Buffer[]): Buffer {
    const bytes = replies.length === 1 ? replies[0] : Buffer.concat(replies)
    bytesSent(this.session, bytes.length)
    return bytes
  }

  /** Reads on, or ends a connection that breaks a limit. */
  #continue(): void {
    this.storing = 0
    this.#isTaking = false
    const { detector, isClosing, limits, pressure } = this.#context
    const { bytes } = this.#stream.received
    const { max_frame_bytes: maxBytes } = limits
    const isUnknown = this.session.device === undefined
    if (!this.#socket.writable) return
    // Once the sender waits, or has ended, its protocol may be clear.
    if (isUnknown && detector && bytes.length > 0 && bytes.length !== this.#quietLength) {
      if (this.#socket.readableEnded) return void this.#takeAll(true)
      this.#quiet = setTimeout(() => void this.#takeAll(true), QUIET_MS)
    }
    if (bytes.length > (isUnknown ? Math.min(MAX_UNIDENTIFIED_BYTES, maxBytes) : maxBytes)) this.abort('frame_too_long')
    else if (this.#stream.noise > maxBytes) this.abort('noise')
    else if (this.#socket.writableLength > maxBytes) this.abort('not_reading')
    else if (isClosing || this.#socket.readableEnded) this.#finish([])
    else if (!pressure.isHigh) this.#socket.resume()
  }

  /**
   * Ends the connection after its last replies. What the device still sends is read and dropped: unread, it would make the
   * system reset the connection, and the replies would be lost.
   */
  #finish(replies: readonly Buffer[]): void {
    this.#socket.end(this.#written(replies))
    this.#socket.resume()
    setTimeout(() => this.#socket.destroy(), FINISH_MS).unref()
  }
}

function destroy(this: Socket): void {
  this.destroy()
}

/** For the beginning of a frame of an unidentified connection: every login is shorter by far. */
const MAX_UNIDENTIFIED_BYTES = 4096
const FINISH_MS = 2000
