import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { HttpRequest, Protocol, Session } from '../../protocols/kit/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { Detector, Undecided } from '../../src/gateway/wire/detect.ts'
import { blownUp } from '../support/blow-up.ts'
import { cpuOf, MOST_CPU_MS } from '../support/cost.ts'
import { type Random, randomOf } from '../support/rough.ts'
import { thrown } from '../support/thrown.ts'
import { ARRIVED } from '../support/vectors/vectors.ts'
import { type Seedling, type Target, targetOf } from './corpus.ts'
import { damaged } from './damage.ts'
import { Hearing } from './hearing.ts'
import { repairChecksum, repairLength } from './places.ts'
import type { Watch } from './watch.ts'

export interface FuzzOptions {
  readonly seed: number
  /** Frames in all. */
  readonly frames: number
  /** The protocols that are damaged; the frames of the others are spliced into theirs. */
  readonly protocols: readonly Protocol[]
  /** Whether memory may not grow. A short run has too few frames to see that. */
  readonly watchesMemory?: boolean
  /** Where each frame is noted. */
  readonly watch?: Watch
}

/** What went wrong, and how to see it again. */
interface FuzzFault {
  readonly protocol: string
  readonly what: string
  /** The frame, as hex; of a request its path and body. */
  readonly frame: string
  /** How many frames of its session came before. */
  readonly earlier: number
}

export interface FuzzFigures {
  frames: number
  messages: number
  refused: number
  readonly faults: FuzzFault[]
}

/** Sends damaged frames of each protocol to its framer and decoder, and some to the port of all protocols. */
export async function fuzz(options: FuzzOptions, all: readonly Protocol[]): Promise<FuzzFigures> {
  const figures: FuzzFigures = { frames: 0, messages: 0, refused: 0, faults: [] }
  const targets = await Promise.all(all.map(targetOf))
  const donors = targets.flatMap(({ seedlings }) => seedlings.map(({ bytes }) => bytes))
  const detector = new Detector({ protocols: all, configured: () => undefined, onFault: thrown })
  const chosen = targets.filter(
    ({ protocol, seedlings }) => options.protocols.includes(protocol) && seedlings.length > 0,
  )
  const share = Math.ceil(options.frames / chosen.length)
  for (const target of chosen) {
    const { seed, watch } = options
    const note = (frame: Buffer) => watch?.note(all.indexOf(target.protocol), frame)
    const run = new ProtocolRun(target, { donors, detector, seed, note })
    run.send(share / 2, figures)
    const watchesMemory = options.watchesMemory && share >= SEES_GROWTH
    const before = watchesMemory ? heapBytes() : 0
    run.send(share / 2, figures)
    if (watchesMemory) watchMemory(run, { before, frames: share / 2, figures })
  }
  return figures
}

/** The second half may keep nothing of what the first has not kept; measured again before it is called a fault. */
function watchMemory(
  run: ProtocolRun,
  { before, frames, figures }: { before: number; frames: number; figures: FuzzFigures },
) {
  let earlier = before
  for (let measured = 0; measured < 2; measured++) {
    const now = heapBytes()
    if (now - earlier < MOST_GROWTH) return
    earlier = now
    run.send(frames, figures)
  }
  if (heapBytes() - earlier < MOST_GROWTH) return
  const what = `memory grows by more than ${MOST_GROWTH} bytes in ${frames} frames`
  figures.faults.push({ protocol: run.protocol.name, what, frame: '', earlier: 0 })
}

interface Surroundings {
  readonly donors: readonly Buffer[]
  readonly detector: Detector
  readonly seed: number
  readonly note: (frame: Buffer) => void
}

/** The damaged frames of one protocol; the same for the same seed. */
class ProtocolRun {
  readonly protocol: Protocol
  readonly #target: Target
  readonly #around: Surroundings
  readonly #random: Random
  /** One connection that never ends: what it keeps, it keeps for ever. */
  readonly #endless: Hearing
  #hearing: Hearing
  /** Frames until the connection ends, and how many it had. */
  #left = 0
  #earlier = 0

  constructor(target: Target, around: Surroundings) {
    this.protocol = target.protocol
    this.#target = target
    this.#around = around
    this.#random = randomOf(seedOf(`${around.seed} ${target.protocol.name}`))
    this.#endless = this.#begin(target.seedlings[0])
    this.#hearing = this.#endless
  }

  send(frames: number, figures: FuzzFigures): void {
    const most = figures.faults.length + MOST_FAULTS
    for (let i = 0; i < frames && figures.faults.length < most; i++) this.#sendOne(figures)
  }

  #sendOne(figures: FuzzFigures): void {
    const random = this.#random
    const seedling = pick(this.#target.seedlings, random)
    if (this.#left-- === 0) this.#beginAnother(seedling)
    const bytes = this.#damaged(seedling)
    const frame = seedling.rebuilt(bytes)
    this.#around.note(Buffer.isBuffer(frame) ? frame : bytes)
    const hearing = random(8) === 0 ? this.#endless : this.#hearing
    const { heard, refused } = hearing
    const wrong = hearing.hear(frame, random(bytes.length + 1)) ?? this.#detected(frame)
    figures.frames++
    figures.messages += hearing.heard - heard
    figures.refused += hearing.refused - refused
    if (wrong !== undefined)
      figures.faults.push({ protocol: this.protocol.name, what: wrong, frame: shown(frame), earlier: this.#earlier })
    this.#earlier++
  }

  #begin(seedling: Seedling): Hearing {
    const session: Session = seedling.session()
    session.lenient = this.#random(3) === 0
    return new Hearing(this.protocol, session, this.#random(2) === 0)
  }

  #beginAnother(seedling: Seedling): void {
    this.#hearing = this.#begin(seedling)
    this.#left = this.#random(30)
    this.#earlier = 0
  }

  /** Damaged, and then made to look right: its length and its checksum fit again. */
  #damaged({ bytes, lengths }: Seedling): Buffer {
    const random = this.#random
    if (random(ONE_IN_BLOWN_UP) === 0) return blownUp(bytes, random)
    if (random(20) === 0) return bytes
    const own = random(2) === 0
    const donor = own ? pick(this.#target.seedlings, random).bytes : pick(this.#around.donors, random)
    const result = Buffer.from(damaged(bytes, random, donor))
    if (lengths.length > 0 && random(2) === 0) repairLength(result, pick(lengths, random))
    const { checksum } = this.#target
    if (checksum && random(4) > 0) repairChecksum(result, checksum)
    return result
  }

  /** What is wrong with how the port of all protocols hears the beginning of a connection. */
  #detected(frame: Buffer | HttpRequest): string | undefined {
    if (this.#random(ONE_IN_DETECTED) > 0 || !Buffer.isBuffer(frame)) return undefined
    const beginning = frame.subarray(0, MAX_UNDECIDED)
    const session = new Conversation('tcp', '')
    const decide = () =>
      new Undecided(this.#around.detector, session).decide(beginning, { isQuiet: true, now: ARRIVED })
    const begun = performance.now()
    try {
      decide()
    } catch (error) {
      return `detection throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    }
    const cost = performance.now() - begun > MOST_CPU_MS ? cpuOf(decide) : 0
    return cost > MOST_CPU_MS ? `detection takes ${cost.toFixed(1)} ms of CPU` : undefined
  }
}

const ONE_IN_BLOWN_UP = 500
const ONE_IN_DETECTED = 300
/** Bytes of a connection that nobody understands until it is closed. */
const MAX_UNDECIDED = 4096
/** Of one protocol in one half of its frames. */
const MOST_FAULTS = 3
const MOST_GROWTH = 1_000_000
/** With fewer frames of a protocol, what grows is not seen. */
const SEES_GROWTH = 10_000

function pick<Value>(values: readonly Value[], random: Random): Value {
  return values[random(values.length)]
}

function shown(frame: Buffer | HttpRequest): string {
  return Buffer.isBuffer(frame) ? frame.toString('hex') : `${frame.uri} ${frame.body.toString('hex')}`
}

/** A number of a text (FNV-1a). */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193)
  return hash
}

let collect: (() => void) | undefined

/** Bytes of the heap that this thread keeps; whatever is kept has an object there. */
function heapBytes(): number {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  return process.memoryUsage().heapUsed
}
