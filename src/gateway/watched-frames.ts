import { DecodeError, type Message, repliesOf } from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { Replica } from '../roster/replica.ts'
import { addWatchedFrames, FRAMES_WATCHED, type Redis, watchedDevices } from '../store/index.ts'
import { requestBytes } from '../store/misunderstood-frame.ts'
import type { WatchedFrame } from '../store/watched-frames.ts'
import { Masking } from './frame-description.ts'
import type { FrameArrival, Outcome } from './outcome.ts'

/**
 * Keeps the frames of watched devices with their outcomes. Once a second it reads from Redis which devices are watched, and
 * writes the new frames. While no device is watched, a frame costs one check of `isIdle`.
 */
export class WatchedFrames {
  /** Whether no device is watched. Only this class writes it. */
  isIdle = true
  readonly #redis: Redis
  readonly #replica: Pick<Replica, 'roster'>
  /** The ids of the watched devices, without leading zeros. */
  #devices: ReadonlySet<string> = new Set()
  /** Frames that are not in Redis yet, JSON each, by device. */
  #frames = new Map<string, string[]>()

  constructor(redis: Redis, replica: Pick<Replica, 'roster'>) {
    this.#redis = redis
    this.#replica = replica
  }

  /** Keeps a frame with its outcome, if its device is watched. */
  keep(arrival: FrameArrival, outcome: Outcome): void {
    const { read = {}, session } = arrival
    const { device, fixes = [] } = read instanceof DecodeError ? {} : read
    const named = [device ?? session.device, ...fixes.map((fix) => fix.device)]
    const watched = new Set(named.flatMap((id) => (id === undefined ? [] : sameId(id)))).intersection(this.#devices)
    for (const id of watched) {
      const frames = this.#frames.get(id) ?? []
      const entry = this.#replica.roster.find(id)
      frames.push(JSON.stringify(describeWatched(id, arrival, { read, outcome, entry })))
      this.#frames.set(id, frames.slice(-FRAMES_WATCHED))
    }
  }

  async close(): Promise<void> {
    await this.#write().catch(() => {})
  }

  /** Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    await this.#write()
    this.#devices = new Set(await watchedDevices(this.#redis))
    this.isIdle = this.#devices.size === 0
  }

  async #write(): Promise<void> {
    if (this.#frames.size === 0) return
    const frames = this.#frames
    this.#frames = new Map()
    await addWatchedFrames(this.#redis, frames)
  }
}

/** What became of a frame. */
interface Taken {
  readonly read: Message | DecodeError
  readonly outcome: Outcome
  /** Of the watched device. */
  readonly entry: DeviceEntry | undefined
}

/** Returns the shown part of a frame; of a relay's frame only the fixes of this device. */
function describeWatched(
  id: string,
  { at, frame, session, protocol }: FrameArrival,
  { read, outcome, entry }: Taken,
): WatchedFrame {
  const { fixes = [], secret }: Message = read instanceof DecodeError ? {} : read
  const { port, remote, transport } = session
  const own = fixes.filter(({ device }) => device === undefined || sameId(device) === id)
  const masking = new Masking([session.secret, secret], entry)
  const shown = (bytes: Buffer) =>
    Buffer.from(masking.mask(bytes.toString('latin1')).slice(0, SHOWN_BYTES), 'latin1').toString('base64')
  const content = Buffer.isBuffer(frame) ? frame : requestBytes(frame)
  const error = errorOf(read, outcome)
  // On a trial the old server answers.
  const replies = outcome.status === 'stored' && !session.trial ? repliesOf(outcome.reply) : []
  return {
    at,
    transport,
    port,
    remote,
    protocol: protocol.name,
    bytes: shown(content),
    size: content.length,
    fixes: own.slice(0, SHOWN_FIXES),
    fixCount: own.length,
    ...(own.length < fixes.length && { isShared: true as const }),
    reply: replies.length > 0 ? shown(Buffer.concat(replies)) : undefined,
    error: error && masking.mask(error),
  }
}

function errorOf(read: Message | DecodeError, outcome: Outcome): string | undefined {
  if (read instanceof DecodeError) return read.message
  if (outcome.status === 'stored') return undefined
  return `${outcome.status.replace('_', ' ')}: ${outcome.reason}`
}

const SHOWN_BYTES = 1024
const SHOWN_FIXES = 20
