import type { Message } from '../../protocols/kit/index.ts'
import { type FrameKind, type FrameStore, frameId, type KeptFrame } from '../lanes/index.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import type { Replica } from '../roster/replica.ts'
import type { Capacity } from './acceptance.ts'
import type { HeardBook } from './heard.ts'
import type { ResolvedDevice } from './identity.ts'
import { contentOf, type Doubt, describeFrame, type MisunderstoodFrame, shownBytes } from './misunderstood.ts'
import type { Obstacle, Reading } from './frame.ts'

export interface FrameKeeperOptions {
  readonly replica: Pick<Replica, 'current' | 'version'>
  readonly capacity: Pick<Capacity, 'isFull'>
  readonly frameStore: Pick<FrameStore, 'keep'>
  readonly heard: Pick<HeardBook, 'became'>
}

/** What is doubtful about a frame, and who sent it. */
export interface Doubtful {
  readonly message: Message
  readonly doubt: Doubt
  readonly error?: string
  readonly sender: ResolvedDevice
}

/** Keeps frames that were not understood, or with a guess alone, as they came, so that they can be decoded again. */
export class FrameKeeper {
  readonly #options: FrameKeeperOptions

  constructor(options: FrameKeeperOptions) {
    this.#options = options
  }

  /** Counts and notes that a frame is not understood. Answers it as it is to be stored. */
  describe({ frame, message, doubt, error, sender, session, protocol }: Doubtful & Reading): KeptFrame {
    const { now: at, opening, spoken, transport } = session
    const { id: device, entry } = sender
    const described = describeFrame({
      at,
      device,
      company: entry?.company_id,
      protocol: protocol.name,
      ...(!entry && spoken?.isGuess && { isGuess: true }),
      transport,
      reason: doubt,
      error,
      content: frame,
      opening,
      fixes: message.fixes?.map(({ time, latitude, longitude }) => [time, latitude, longitude] as const),
      unreadable: message.unreadable,
      secrets: [session.secret, message.secret],
    })
    if (doubt !== 'guessed') metrics.misunderstood.inc({ protocol: protocol.name, reason: doubt })
    if (entry) this.#options.heard.became(device, 'misunderstood', doubt)
    if (entry && kindOf(doubt) === 'position') noteNotUnderstood(described)
    return {
      id: frameId(at, device),
      kind: kindOf(doubt),
      isConfigured: entry !== undefined,
      isProven: transport !== 'udp',
      rosterVersion: spoken?.isRefuted ? 0 : this.#options.replica.version,
      text: JSON.stringify(described),
    }
  }

  /** Answers undefined once it is on disk. */
  async store(kept: KeptFrame): Promise<Obstacle | undefined> {
    const { capacity, frameStore, replica } = this.#options
    if (!replica.current) return 'roster'
    if (capacity.isFull) return 'memory'
    const isKept = await frameStore.keep(kept).catch(() => undefined)
    if (isKept === undefined) return 'redis'
    return isKept ? undefined : 'misunderstood'
  }
}

function kindOf(doubt: Doubt): FrameKind {
  if (doubt === 'guessed') return doubt
  return doubt === 'not_read' || doubt === 'entries' ? 'position' : 'unknown'
}

/** Has a device among the findings whose positions cannot be read, with the beginning of such a frame. */
function noteNotUnderstood(frame: MisunderstoodFrame): void {
  const { device, protocol } = frame
  const content = contentOf(frame)
  const shown = Buffer.isBuffer(content) ? shownBytes(content, SHOWN_BYTES) : { text: content.uri.slice(0, SHOWN_URI) }
  const evidence = `${protocol}: ${'hex' in shown ? shown.hex : shown.text.trim()}`
  observations.note('not_understood', { subject: { device }, evidence })
}

const SHOWN_BYTES = 24
const SHOWN_URI = 100
