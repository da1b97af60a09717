import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DecodeInput } from '../../../src/cli/decode-input.ts'

/** When every vector arrived, ms UTC. */
export const ARRIVED = Date.parse('2026-11-20T12:00:00Z')

/** Where the vectors are: $WAYBRIDGE_VECTORS, else beside the project. */
export const vectorsFolder = resolve(
  process.env.WAYBRIDGE_VECTORS ?? join(import.meta.dirname, '../../../../shared/vectors'),
)

/** A frame of a real device and what it means: see README.md of the vectors. */
export interface Vector extends Omit<DecodeInput, 'id' | 'input' | 'deviceId'>, VectorMeaning {
  readonly id: string
  readonly input: VectorInput
}

/** What a vector says; `repliesAckOn` stands in if there are no `replies`. */
export interface VectorMeaning {
  readonly deviceId?: string
  readonly positions: readonly VectorPosition[]
  readonly replies?: readonly VectorReply[]
  readonly repliesAckOn?: readonly VectorReply[]
}

/** A frame as hex or text, an HTTP request, or the payload of a publication. */
interface VectorInput {
  readonly hex?: string
  readonly text?: string
  /** What ended it on the wire, where that was cut off. */
  readonly delimiter?: string
  readonly http?: string
  readonly uri?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bodyHex?: string
  readonly payloadHex?: string
  /** Of messages of another kind. */
  readonly type?: string
}

export interface VectorPosition {
  readonly deviceId?: string
  readonly noPosition?: true
  readonly time?: string
  readonly timeIsNow?: true
  readonly timeZoneDependent?: readonly string[]
  readonly clockDependent?: readonly string[]
  readonly valid: boolean
  readonly lat: number
  readonly lon: number
  readonly altitude: number
  readonly speedKnots: number
  readonly course: number
  readonly accuracy?: number
  readonly hdop?: number
  readonly sat?: number
  readonly said?: VectorSaid
}

/** What a frame says beside its position, as the peer names it. */
export interface VectorSaid {
  readonly ignition?: boolean
  readonly motion?: boolean
  readonly powerV?: number
  readonly batteryV?: number
  readonly batteryPercent?: number
  readonly charging?: boolean
  readonly driver?: string
  readonly alarms?: readonly string[]
}

export interface VectorReply {
  readonly hex?: string
  readonly text?: string
  readonly http?: number
  readonly bodyHex?: string
  readonly timeDependent?: true
  readonly systemTimeZoneDependent?: true
}

/** A stream's bytes and the first of its frames, in hex. */
export interface VectorStream {
  readonly input: string
  readonly frames: readonly string[]
}

/** What the index of the vectors says of a protocol; `delimiters` are cut off its frames where `stripped`. */
export interface VectorFamily {
  readonly port: number
  readonly transports: readonly string[]
  readonly framing: { readonly kind: string; readonly delimiters?: readonly string[]; readonly stripped?: boolean }
  readonly frames: number
}

/** Every family of the vectors; undefined if the folder is missing. */
export function vectorFamilies(): ReadonlyMap<string, VectorFamily> | undefined {
  const path = join(vectorsFolder, 'index.json')
  if (!existsSync(path)) return undefined
  const index: Record<string, VectorFamily> = JSON.parse(readFileSync(path, 'utf8'))
  return new Map(Object.entries(index))
}

/** The vectors of one protocol that came over wires of ours; none if there is no file. */
export function vectorsOf(protocol: string): Vector[] {
  const lines = linesOf<Omit<Vector, 'protocol'>>(`${protocol}.jsonl`)
  return lines.map((line) => asPublication({ ...line, protocol })).filter(({ input }) => input.type === undefined)
}

/** Of a publication the payload is the frame; the broker answers it, not the protocol. */
function asPublication(vector: Vector): Vector {
  const { payloadHex: hex } = vector.input
  return hex === undefined ? vector : { ...vector, input: { hex }, replies: [], repliesAckOn: undefined }
}

export function streamsOf(protocol: string): VectorStream[] {
  return linesOf<VectorStream>(`frames/${protocol}.jsonl`)
}

function linesOf<Line>(file: string): Line[] {
  const path = join(vectorsFolder, file)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line): Line => JSON.parse(line))
}
