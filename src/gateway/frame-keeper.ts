import type { Message } from '../../protocols/kit/index.ts'
import type { Replica } from '../roster/replica.ts'
import { type FrameStore, frameId, type KeptFrame } from '../store/index.ts'
import { type Doubt, kindOf, type MisunderstoodFrame } from '../store/misunderstood-frame.ts'
import type { Capacity, Waiting } from './acceptance.ts'
import { describeFrame } from './frame-description.ts'
import type { ResolvedDevice } from './identity.ts'
import { doubtOf, type FrameArrival, isAnswered, type Obstacle } from './outcome.ts'

export interface FrameKeeperOptions {
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly capacity: Pick<Capacity, 'isFull'>
  readonly frameStore: Pick<FrameStore, 'keep'>
}

/** A frame with an open doubt, and its sender. */
export interface Doubtful {
  readonly message: Message
  readonly doubt: Doubt
  readonly error?: string
  readonly sender: ResolvedDevice
  /** All devices of a relay's frame that were accepted; undefined: it is no relay's. */
  readonly others?: readonly ResolvedDevice[]
}

/** Stores frames that were not understood, or only by a guess, unchanged, so that they can be decoded again. */
export class FrameKeeper {
  readonly #options: FrameKeeperOptions
  readonly #waiting: Waiting

  constructor(options: FrameKeeperOptions, waiting: Waiting) {
    this.#options = options
    this.#waiting = waiting
  }

  /**
   * Stores a frame that is not understood, with retries until the deadline. Resolves to the stored form, and to the reason if
   * storing failed. A frame of an unknown type that has no answer is no failure if it is not stored, because the device
   * expects no answer. Frames of a trial that pushes nothing are not stored.
   */
  async keep(doubtful: Doubtful, arrival: FrameArrival): Promise<{ kept?: MisunderstoodFrame; failure?: Obstacle }> {
    const { doubt, message, sender } = doubtful
    const { deadline, session } = arrival
    if (session.trial?.push === false) return {}
    if (!sender.entry) this.#noteSpoken(sender, arrival)
    const kept = this.#describe(doubtful, arrival)
    const frame = this.#stored(kept, sender, arrival)
    let failure = await this.#store(frame)
    if (doubt === 'unknown_type' && !isAnswered(message, session)) return { kept }
    while (failure && (await this.#waiting.mayRetry(failure, deadline))) failure = await this.#store(frame)
    return { kept, failure }
  }

  /** Stores the frame of fixes that will be held, if its protocol is a guess. One that is not understood is stored anyway. */
  async keepGuessed(sent: Omit<Doubtful, 'doubt'>, arrival: FrameArrival): Promise<Obstacle | undefined> {
    this.#noteSpoken(sent.sender, arrival)
    if (!arrival.session.isGuessed || doubtOf(sent.message)) return undefined
    return (await this.keep({ ...sent, doubt: 'guessed' }, arrival)).failure
  }

  /** Notes what a frame of a device that is not configured was read with: a protocol that was found out is a guess until a checksum fits. */
  #noteSpoken({ id }: ResolvedDevice, arrival: FrameArrival): void {
    const { protocol, session } = arrival
    const { roster, version } = this.#options.replica
    const configured = roster.find(id)?.protocol ?? protocol.name
    const isGuess = session.isGuessed
    const rosterVersion = isGuess && configured !== protocol.name ? 0 : version
    arrival.spoken ??= { protocol: protocol.name, isGuess, rosterVersion }
  }

  #describe(
    { message, doubt, error, sender, others }: Doubtful,
    { at, frame, protocol, session }: FrameArrival,
  ): MisunderstoodFrame {
    const { isGuessed, opening, transport } = session
    const { id: device, entry } = sender
    return describeFrame({
      at,
      device,
      company: entry?.company_id,
      others: companiesOf(others, sender),
      protocol: protocol.name,
      ...(isGuessed && { isGuess: true }),
      transport,
      reason: doubt,
      error,
      content: frame,
      opening,
      fixes: message.fixes?.map(({ time, latitude, longitude }) => [time, latitude, longitude] as const),
      unreadable: message.unreadable,
      secrets: [session.secret, message.secret],
      entry: this.#options.replica.roster.find(device),
    })
  }

  /** A frame as Redis stores it. */
  #stored(kept: MisunderstoodFrame, { entry }: ResolvedDevice, { session, spoken }: FrameArrival): KeptFrame {
    const { at, device, reason, transport } = kept
    return {
      id: frameId(at, device),
      kind: kindOf(reason),
      isConfigured: entry !== undefined,
      isProven: transport !== 'udp' || (entry !== undefined && session.isProved),
      rosterVersion: spoken?.rosterVersion ?? this.#options.replica.version,
      text: JSON.stringify(kept),
    }
  }

  /** Resolves to undefined once the frame is on disk. */
  async #store(kept: KeptFrame): Promise<Obstacle | undefined> {
    const { capacity, frameStore, replica } = this.#options
    if (!replica.current) return 'roster'
    if (capacity.isFull) return 'memory'
    const isKept = await frameStore.keep(kept).catch(() => undefined)
    if (isKept === undefined) return 'redis'
    return isKept ? undefined : 'misunderstood'
  }
}

/** Returns the other configured devices of a relay's frame, with their companies; undefined: it is no relay's. */
function companiesOf(
  devices: readonly ResolvedDevice[] | undefined,
  sender: ResolvedDevice,
): MisunderstoodFrame['others'] {
  return devices?.flatMap(({ id, entry }) => (entry && id !== sender.id ? [[id, entry.company_id] as const] : []))
}
