import { loadProtocols } from '../../protocols/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { Detector, Undecided } from '../../src/gateway/wire/detect.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { thrown } from '../support/thrown.ts'

/** What finding out the protocol of a connection costs: ms of CPU, of all first frames of the protocols' own cases. */
export interface DetectCost {
  readonly connections: number
  readonly whole: { readonly median_ms: number; readonly worst_ms: number }
  readonly byte_by_byte: { readonly median_ms: number; readonly worst_ms: number }
}

/**
 * The first frame of each conversation of each protocol comes to a listener for all protocols, whole and byte by byte; then
 * its sender is quiet. The median and the worst connection, each the mean of `ROUNDS`.
 */
export async function benchDetect(): Promise<DetectCost> {
  const detector = new Detector({ protocols: await loadProtocols(), configured: () => undefined, onFault: thrown })
  const streams = (await Promise.all(detector.protocols.filter(({ tcp }) => tcp).map(firstFrames))).flat()
  const costs = (pieces: (bytes: Buffer) => readonly number[]) => {
    for (const bytes of streams) connect(detector, bytes, pieces(bytes))
    return summary(streams.map((bytes) => costOf(() => connect(detector, bytes, pieces(bytes)))))
  }
  const byte_by_byte = costs((bytes) => Array.from(bytes, (_, i) => i + 1))
  return { connections: streams.length, whole: costs((bytes) => [bytes.length]), byte_by_byte }
}

const ROUNDS = 20
const LONGEST = 4096

async function firstFrames({ name }: { readonly name: string }): Promise<Buffer[]> {
  const { frames } = await casesOf(name)
  return frames.flatMap(({ transport, frames: [{ frame }] }) => {
    if (transport !== undefined && transport !== 'tcp') return []
    if (typeof frame !== 'string' && !Buffer.isBuffer(frame)) return []
    return [Buffer.from(frame).subarray(0, LONGEST)]
  })
}

/** One connection whose bytes arrive up to each of these ends; a sure guess ends it. */
function connect(detector: Detector, bytes: Buffer, ends: readonly number[]): void {
  const undecided = new Undecided(detector, new Conversation('tcp', ''))
  const now = Date.now()
  if (ends.some((end) => undecided.decide(bytes.subarray(0, end), { isQuiet: false, now }))) return
  undecided.decide(bytes, { isQuiet: true, now })
}

function costOf(work: () => void): number {
  const begun = process.cpuUsage()
  for (let i = 0; i < ROUNDS; i++) work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000 / ROUNDS
}

function summary(costs: readonly number[]) {
  const sorted = costs.toSorted((a, b) => a - b)
  return { median_ms: rounded(sorted[sorted.length >> 1]), worst_ms: rounded(sorted[sorted.length - 1]) }
}

const rounded = (ms: number) => Math.round(ms * 1000) / 1000
