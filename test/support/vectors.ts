import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DecodedFix, DecodeInput, DecodeOutput } from '../../src/cli/decode.ts'

/** When every vector arrived, ms UTC. */
export const ARRIVED = Date.parse('2026-11-20T12:00:00Z')

/** Where the vectors are: $WAYBRIDGE_VECTORS, else beside the project. */
export const vectorsFolder = resolve(
  process.env.WAYBRIDGE_VECTORS ?? join(import.meta.dirname, '../../../shared/vectors'),
)

/** A frame of a real device and what it means: see README.md of the vectors. */
export interface Vector extends Omit<DecodeInput, 'input'> {
  readonly id: string
  readonly input: VectorInput & { readonly delimiter?: string; readonly type?: string }
  readonly positions: readonly VectorPosition[]
  readonly replies?: readonly VectorReply[]
  readonly repliesAckOn?: readonly VectorReply[]
}

/** A stream as hex or text, or an HTTP request. */
type VectorInput =
  | { readonly hex: string }
  | { readonly text: string }
  | {
      readonly http: string
      readonly uri: string
      readonly headers?: Readonly<Record<string, string>>
      readonly bodyHex?: string
    }

interface VectorPosition {
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

interface VectorReply {
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

/** What in an output differs from its vector, one line for each field: frame, field, expected, got. */
export function differences(vector: Vector, output: DecodeOutput): string[] {
  const expected = vector.positions.filter(({ noPosition }) => !noPosition)
  const wrong = [
    ...(isDevice(vector, output.device) ? [] : [difference('device', vector.deviceId, output.device)]),
    ...(output.fixes.length === expected.length ? [] : [difference('fixes', expected.length, output.fixes.length)]),
    ...expected.flatMap((position, i) => fixDifferences(position, output.fixes[i], `fixes[${i}]`)),
    ...replyDifferences(vector.replies ?? vector.repliesAckOn ?? [], output.replies),
  ]
  const error = output.error === undefined ? '' : ` (error: ${output.error})`
  return wrong.map((line) => `${vector.id} ${line}${error}`)
}

function difference(field: string, expected: unknown, got: unknown): string {
  return `${field}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`
}

/** Where the peer made nothing of a frame, it does not say whose it is. */
export function isDevice({ deviceId }: Vector, device: string | undefined): boolean {
  return deviceId === undefined || device === deviceId
}

function fixDifferences(position: VectorPosition, fix: DecodedFix | undefined, where: string): string[] {
  if (!fix) return []
  const skipped = [...(position.timeZoneDependent ?? []), ...(position.clockDependent ?? [])]
  const time = position.timeIsNow ? ARRIVED : Date.parse(position.time ?? '')
  const { speed = 0, heading = 0, altitude, accuracy, hdop, satellites } = fix
  const knots = (speed * 3600) / 1852
  const turn = Math.abs(heading - position.course) % 360
  const fields: readonly (readonly [name: string, isClose: boolean, expected: unknown, got: unknown])[] = [
    [
      'time',
      skipped.includes('fixTime') || Math.abs(Date.parse(fix.time ?? '') - time) <= 1000,
      position.timeIsNow ? new Date(ARRIVED) : position.time,
      fix.time,
    ],
    ['valid', fix.valid === position.valid, position.valid, fix.valid],
    ['lat', near(fix.lat, position.lat, 1e-5), position.lat, fix.lat],
    ['lon', near(fix.lon, position.lon, 1e-5), position.lon, fix.lon],
    ['speed in knots', near(knots, position.speedKnots, 0.1), position.speedKnots, knots],
    ['heading', Math.min(turn, 360 - turn) <= 0.5, position.course, heading],
    ['altitude', absentOrNear(altitude, position.altitude, 1), position.altitude, altitude],
    ['accuracy', absentOrNear(accuracy, position.accuracy, 1), position.accuracy, accuracy],
    ['hdop', absentOrNear(hdop, position.hdop, 0.1), position.hdop, hdop],
    ['satellites', absentOrNear(satellites, position.sat, 0), position.sat, satellites],
  ]
  return fields
    .filter(([, isClose]) => !isClose)
    .map(([name, , expected, got]) => difference(`${where}.${name}`, expected, got))
}

/** What a protocol or the vector leaves out is not compared. */
function absentOrNear(found: number | undefined, expected: number | undefined, tolerance: number): boolean {
  return found === undefined || expected === undefined || near(found, expected, tolerance)
}

function near(found: number | undefined, expected: number, tolerance: number): boolean {
  return found !== undefined && Math.abs(found - expected) <= tolerance + 1e-9
}

function replyDifferences(expected: readonly VectorReply[], found: readonly VectorReply[]): string[] {
  const same =
    expected.length === found.length &&
    expected.every((reply, i) => printed(reply, reply.timeDependent) === printed(found[i], reply.timeDependent))
  return same ? [] : [difference('replies', expected, found)]
}

/** Comparable text of a reply; of one that holds the clock only the shape, digits masked. */
function printed({ http, bodyHex, hex, text }: VectorReply, masked = false): string {
  if (http !== undefined) return `${http} ${bodyHex}`
  const bytes = text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text)
  return masked ? bytes.toString('latin1').replace(/\d/g, '0') : bytes.toString('hex')
}

const SHORT_DATA_STORED = { replies: [{ text: '#ASD#1\r\n' }] }

/** Frames of the vectors that we read otherwise, on purpose: id → why. One that differs no more has to leave the list. */
export const exceptions: Readonly<Record<string, string>> = {
  'gt06-051': 'cells with a date under type 19 are answered as the specification has it, where the peer is silent',
  'gt06-119': 'the offer of a photo is answered, but the photo not asked for',
  'gt06-161': 'a heartbeat of the ZX303 family has neither the serial number nor the checksum that an answer needs',
  'teltonika-031': 'a record whose GPS element has a time but no coordinates is no fix, where the peer makes 0/0 of it',
}

/**
 * Where the peer is plainly wrong against the vendor's specification: id → what the specification says in its place, which
 * is what the frame has to yield.
 */
export const corrections: Readonly<Record<string, Partial<Pick<Vector, 'deviceId' | 'positions' | 'replies'>>>> = {
  // Wialon IPS, "Short data packet": the answer to #SD# is #ASD#. A device that waits for it would send again for ever.
  'wialon-001': SHORT_DATA_STORED,
  'wialon-012': SHORT_DATA_STORED,
  'wialon-013': SHORT_DATA_STORED,
  'wialon-014': SHORT_DATA_STORED,
  // A photo would be downloaded over the SIM card of the device and thrown away: nothing asks for it.
  'teltonika-049': { replies: [] },
  'teltonika-050': { replies: [] },
  // The id is the app's UserID, over HTTP as over MQTT; the peer takes the whole topic.
  'owntracks-005': { deviceId: 'qtripp' },
}
