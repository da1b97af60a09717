import type { Protocol } from '../../../protocols/kit/index.ts'
import type { DecodeOutput } from '../../../src/cli/decode-input.ts'
import type { ProtocolCases } from '../protocol-cases.ts'
import { corrected } from './corrections.ts'
import { type Difference, differences, saidCount, saidDifferences } from './differences.ts'
import { type Vector, vectorsOf } from './vectors.ts'
import { decodeVector, vectorOptions, withEscapedReplies } from './wire.ts'

/** What a protocol makes of one vector. */
export interface VectorResult {
  readonly vector: Vector
  readonly output: DecodeOutput
  /** From the vector as the corrections have it. */
  readonly wrong: readonly Difference[]
  /** What differs of what it says beside its positions. */
  readonly wrongSaid: readonly Difference[]
  readonly isCorrected: boolean
  /** Why it may differ. */
  readonly exception?: string
}

/** What a protocol makes of each of its vectors; those of one session in order on one connection. */
export function vectorResults(protocol: Protocol, cases: ProtocolCases): VectorResult[] {
  const { corrections, exceptions = {} } = cases
  const options = vectorOptions()
  const bare = vectorOptions()
  return vectorsOf(protocol.name).map((vector) => {
    const output = decodeVector(protocol, vector, options)
    const { device } = decodeVector(protocol, { ...vector, deviceId: undefined }, bare)
    const read = corrected(vector, corrections)
    const wrong = [...differences(withEscapedReplies(protocol, read), output), ...otherDevice(read, device)]
    const wrongSaid = saidDifferences(read, output)
    return { vector, output, wrong, wrongSaid, isCorrected: isOther(vector, read), exception: exceptions[vector.id] }
  })
}

/** In how many of some vectors the positions, the answers, and what is said besides are right; `saying`: of how many something is said. */
export function sharesOf(results: readonly VectorResult[]) {
  const count = (fits: (result: VectorResult) => boolean) => results.filter(fits).length
  return {
    positions: count(({ wrong }) => wrong.every(({ field }) => field === 'replies')),
    answers: count(({ wrong }) => !wrong.some(({ field }) => field === 'replies' || field === 'error')),
    saying: count(isSaying),
    said: count((result) => isSaying(result) && result.wrongSaid.length === 0),
  }
}

/** Whether a frame says something beside its positions, or we say so of it. */
function isSaying({ vector, wrongSaid }: VectorResult): boolean {
  return saidCount(vector) > 0 || wrongSaid.length > 0
}

/** Without a device that is logged in before, a frame names its own or none. */
function otherDevice({ deviceId }: Vector, device: string | undefined): Difference[] {
  const isSame = device === undefined || deviceId === undefined || device === deviceId
  return isSame ? [] : [{ field: 'device without a login', expected: deviceId, got: device }]
}

/** Whether a correction changes what a vector says. */
function isOther(vector: Vector, read: Vector): boolean {
  return JSON.stringify(vector) !== JSON.stringify(read)
}
