import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DecodedFix, DecodeInput, DecodeOutput } from '../../src/cli/decode.ts'
import { corrections } from './vector-exceptions.ts'

/** When every vector arrived, ms UTC. */
export const ARRIVED = Date.parse('2026-11-20T12:00:00Z')

/** Where the vectors are: $WAYBRIDGE_VECTORS, else beside the project. */
export const vectorsFolder = resolve(
  process.env.WAYBRIDGE_VECTORS ?? join(import.meta.dirname, '../../../shared/vectors'),
)

/** A frame of a real device and what it means: see README.md of the vectors. */
export interface Vector extends DecodeInput {
  readonly id: string
  readonly input: DecodeInput['input'] & { readonly delimiter?: string; readonly type?: string }
  readonly positions: readonly VectorPosition[]
  readonly replies?: readonly VectorReply[]
  readonly repliesAckOn?: readonly VectorReply[]
}

export interface VectorPosition {
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
}

export interface VectorReply {
  readonly hex?: string
  readonly text?: string
  readonly http?: number
  readonly bodyHex?: string
  readonly timeDependent?: true
}

/** A stream's bytes and the first of its frames, in hex. */
export interface Stream {
  readonly input: string
  readonly frames: readonly string[]
}

/** The vectors of one protocol that came over the wires of `decode`; none where there is no file. */
export function vectorsOf(protocol: string): Vector[] {
  const lines = linesOf<Omit<Vector, 'protocol'>>(`${protocol}.jsonl`)
  const corrected = lines.map((line) => ({ ...line, ...corrections[line.id], protocol }))
  return corrected.filter(({ input }) => input.type === undefined)
}

export function streamsOf(protocol: string): Stream[] {
  return linesOf<Stream>(`frames/${protocol}.jsonl`)
}

function linesOf<Line>(file: string): Line[] {
  const path = join(vectorsFolder, file)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line): Line => JSON.parse(line))
}

/** What of an output is not what the vector says, one sentence each. */
export function differences(vector: Vector, output: DecodeOutput): string[] {
  const expected = vector.positions.filter(({ noPosition }) => !noPosition)
  const found = output.fixes
  const wrong = [
    ...(isDevice(vector, output.device) ? [] : [`device ${output.device}, not ${vector.deviceId}`]),
    ...(found.length === expected.length ? [] : [`${found.length} fixes, not ${expected.length}`]),
    ...expected.flatMap((position, i) => (found[i] ? fixDifferences(position, found[i]) : [])),
    ...replyDifferences(vector.replies ?? vector.repliesAckOn ?? [], output.replies),
  ]
  return wrong.length > 0 && output.error !== undefined ? [...wrong, `error: ${output.error}`] : wrong
}

/** Where the peer made nothing of a frame, it does not say whose it is. */
export function isDevice({ deviceId }: Vector, device: string | undefined): boolean {
  return deviceId === undefined || device === deviceId
}

function fixDifferences(position: VectorPosition, fix: DecodedFix): string[] {
  const skipped = [...(position.timeZoneDependent ?? []), ...(position.clockDependent ?? [])]
  const time = position.timeIsNow ? ARRIVED : Date.parse(position.time ?? '')
  const { speed = 0, heading = 0, altitude, accuracy, hdop, satellites } = fix
  const turn = Math.abs(heading - position.course) % 360
  const close: Record<string, boolean> = {
    time: skipped.includes('fixTime') || Math.abs(Date.parse(fix.time ?? '') - time) <= 1000,
    valid: fix.valid === position.valid,
    lat: near(fix.lat, position.lat, 1e-5),
    lon: near(fix.lon, position.lon, 1e-5),
    speed: near((speed * 3600) / 1852, position.speedKnots, 0.1),
    heading: Math.min(turn, 360 - turn) <= 0.5,
    altitude: altitude === undefined || near(altitude, position.altitude, 1),
    accuracy: accuracy === undefined || position.accuracy === undefined || near(accuracy, position.accuracy, 1),
    hdop: hdop === undefined || position.hdop === undefined || near(hdop, position.hdop, 0.1),
    satellites: satellites === undefined || position.sat === undefined || satellites === position.sat,
  }
  const wrong = Object.keys(close).filter((key) => !close[key])
  return wrong.length === 0 ? [] : [`${wrong.join(', ')} of ${JSON.stringify(fix)}, not ${JSON.stringify(position)}`]
}

function near(found: number | undefined, expected: number, tolerance: number): boolean {
  return found !== undefined && Math.abs(found - expected) <= tolerance + 1e-9
}

function replyDifferences(expected: readonly VectorReply[], found: readonly VectorReply[]): string[] {
  const same =
    expected.length === found.length &&
    expected.every((reply, i) => printed(reply, reply.timeDependent) === printed(found[i], reply.timeDependent))
  return same ? [] : [`replies ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`]
}

/** Comparable text of a reply; of one that holds the clock only the shape, digits masked. */
function printed({ http, bodyHex, hex, text }: VectorReply, masked = false): string {
  if (http !== undefined) return `${http} ${bodyHex}`
  const bytes = text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text)
  return masked ? bytes.toString('latin1').replace(/\d/g, '0') : bytes.toString('hex')
}
