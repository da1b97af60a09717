import type { Message } from '../../protocols/kit/index.ts'
import { type FrameKind, type FrameStore, frameId, type KeptFrame } from '../lanes/index.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import type { Replica } from '../roster/replica.ts'
import type { Capacity, Waiting } from './acceptance.ts'
import type { HeardDevices } from './heard.ts'
import { isGuessed, noteSpoken, type ResolvedDevice } from './identity.ts'
import { contentOf, type Doubt, describeFrame, type MisunderstoodFrame, shownBytes } from './misunderstood.ts'
import { doubtOf, type FrameArrival, isAnswered, type Obstacle, type Reading } from './frame.ts'

export interface FrameKeeperOptions {
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly capacity: Pick<Capacity, 'isFull'>
  readonly frameStore: Pick<FrameStore, 'keep'>
  readonly heard: HeardDevices
}

/** What is doubtful about a frame, and who sent it. */
export interface Doubtful {
  readonly message: Message
  readonly doubt: Doubt
  readonly error?: string
  readonly sender: ResolvedDevice
  /** All devices of a relay's frame that were accepted; undefined: it is no relay's. */
  readonly others?: readonly ResolvedDevice[]
}

/** Keeps frames that were not understood, or with a guess alone, as they came, so that they can be decoded again. */
export class FrameKeeper {
  readonly #options: FrameKeeperOptions
  readonly #waiting: Waiting

  constructor(options: FrameKeeperOptions, waiting: Waiting) {
    this.#options = options
    this.#waiting = waiting
  }

  /**
   * Keeps a frame that is not understood, trying until the deadline. Answers undefined once it is kept; also where it is not, if
   * its type is unknown and nothing is answered: then the device is told nothing of it.
   */
  async keep(doubtful: Doubtful, arrival: FrameArrival): Promise<Obstacle | undefined> {
    const { doubt, message, sender } = doubtful
    const { protocol, deadline, session } = arrival
    if (!sender.entry) noteSpoken(arrival, this.#options.replica.roster.find(sender.id))
    if (message.unreadable)
      metrics.decodeErrors.inc({ protocol: protocol.name, reason: 'entry' }, message.unreadable.length)
    const kept = this.#describe({ ...arrival, ...doubtful })
    let failure = await this.#store(kept)
    if (doubt === 'unknown_type' && !isAnswered(message, session)) return undefined
    while (failure && (await this.#waiting.mayRetry(failure, deadline))) failure = await this.#store(kept)
    return failure
  }

  /** Keeps the frame of fixes that are to be held, where its protocol is a guess. One that is not understood is kept anyway. */
  async keepGuessed(sent: Omit<Doubtful, 'doubt'>, arrival: FrameArrival): Promise<Obstacle | undefined> {
    const { isGuess } = noteSpoken(arrival, this.#options.replica.roster.find(sent.sender.id))
    return isGuess && !doubtOf(sent.message) ? this.keep({ ...sent, doubt: 'guessed' }, arrival) : undefined
  }

  /** Counts and notes that a frame is not understood. Answers it as it is to be stored. */
  #describe({ frame, message, doubt, error, sender, others, session, protocol }: Doubtful & Reading): KeptFrame {
    const { now: at, opening, spoken, transport } = session
    const { id: device, entry } = sender
    const described = describeFrame({
      at,
      device,
      company: entry?.company_id,
      others: companiesOf(others, sender),
      protocol: protocol.name,
      ...(isGuessed(session) && { isGuess: true }),
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
    if (doubt !== 'guessed') metrics.misunderstood.inc({ protocol: protocol.name, reason: doubt })
    if (entry) this.#options.heard.of(device).became('misunderstood', doubt)
    if (entry && kindOf(doubt) === 'position') noteNotUnderstood(described)
    return {
      id: frameId(at, device),
      kind: kindOf(doubt),
      isConfigured: entry !== undefined,
      isProven: transport !== 'udp' || (entry !== undefined && session.isProved),
      rosterVersion: spoken?.isRefuted ? 0 : this.#options.replica.version,
      text: JSON.stringify(described),
    }
  }

  /** Answers undefined once it is on disk. */
  async #store(kept: KeptFrame): Promise<Obstacle | undefined> {
    const { capacity, frameStore, replica } = this.#options
    if (!replica.current) return 'roster'
    if (capacity.isFull) return 'memory'
    const isKept = await frameStore.keep(kept).catch(() => undefined)
    if (isKept === undefined) return 'redis'
    return isKept ? undefined : 'misunderstood'
  }
}

/** The configured devices beside the sender in a relay's frame, and their companies; undefined: it is no relay's. */
function companiesOf(
  devices: readonly ResolvedDevice[] | undefined,
  sender: ResolvedDevice,
): MisunderstoodFrame['others'] {
  return devices?.flatMap(({ id, entry }) => (entry && id !== sender.id ? [[id, entry.company_id] as const] : []))
}

function kindOf(doubt: Doubt): FrameKind {
  if (doubt === 'guessed') return doubt
  return doubt === 'not_read' || doubt === 'entries' ? 'position' : 'unknown'
}

/** Adds a device to the finding about positions that cannot be read, with the beginning of such a frame. */
function noteNotUnderstood(frame: MisunderstoodFrame): void {
  const { device, protocol } = frame
  const content = contentOf(frame)
  const shown = Buffer.isBuffer(content) ? shownBytes(content, SHOWN_BYTES) : { text: content.uri.slice(0, SHOWN_URI) }
  const evidence = `${protocol}: ${'hex' in shown ? shown.hex : shown.text.trim()}`
  observations.note('not_understood', { subject: { device }, evidence })
}

const SHOWN_BYTES = 24
const SHOWN_URI = 100
