import { ALARMS, type Alarm, type Said, said } from '../../../protocols/kit/index.ts'
import type { DecodedFix } from '../../../src/admin/schemas/devices.ts'
import type { DecodeOutput } from '../../../src/cli/decode-input.ts'
import { shownReply } from './shown.ts'
import { ARRIVED, type Vector, type VectorPosition, type VectorReply, type VectorSaid } from './vectors.ts'

/** One field in which an output differs from what is expected. */
export interface Difference {
  readonly field: string
  readonly expected: unknown
  readonly got: unknown
}

/** What in an output differs from its vector: device, fixes and replies; each position's device as well. */
export function differences(vector: Vector, output: DecodeOutput): Difference[] {
  return [...meaningDifferences(vector, output), ...replyDifferences(vector, output)]
}

/** A difference as one line. */
export function differenceText({ field, expected, got }: Difference): string {
  return `${field}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`
}

/** What in an output differs from what its vector says beside the positions. What the peer leaves out, but alarms, is not compared. */
export function saidDifferences({ positions }: Vector, { error, fixes, said: saidAlone }: DecodeOutput): Difference[] {
  if (error !== undefined)
    return positions.some((position) => position.said) ? [{ field: 'said', expected: positions, got: error }] : []
  const placed = positions.filter(({ noPosition }) => !noPosition)
  return positions.flatMap((position) => {
    const where = position.noPosition ? 'said' : `fixes[${placed.indexOf(position)}].said`
    const got = position.noPosition ? saidAlone : fixes[placed.indexOf(position)]?.said
    return oneSaidDifferences(position.said, got, where)
  })
}

/** How many positions of a vector say something beside it. */
export function saidCount({ positions }: Vector): number {
  return positions.filter((position) => Object.keys(expectedSaid(position.said)).length > 0).length
}

function oneSaidDifferences(vector: VectorSaid | undefined, got: DecodedFix['said'] = {}, where: string): Difference[] {
  const expected = expectedSaid(vector)
  const keys = [...new Set([...Object.keys(expected), 'alarms'])] as (keyof Said)[]
  return keys
    .filter((key) => !isSaidAlike(expected[key], got[key]))
    .map((key) => ({ field: `${where}.${key}`, expected: expected[key], got: got[key] }))
}

function isSaidAlike(expected: unknown, got: unknown): boolean {
  if (typeof expected === 'number' && typeof got === 'number') return near(got, expected, 0.01)
  if (Array.isArray(expected) && Array.isArray(got))
    return expected.length === got.length && expected.every((each) => got.includes(each))
  return expected === got
}

/** A driver of zeros is none; alarms that are not in the closed list are not expected. Voltages stay as the peer reads them. */
function expectedSaid(vector: VectorSaid = {}): Said {
  const alarms = (vector.alarms ?? []).map((name) => ALARMS_OF_PEER[name] ?? snake(name)).filter(isAlarm)
  return {
    ...voltage('external_voltage', vector.powerV),
    ...voltage('battery_voltage', vector.batteryV),
    ...said({
      ignition: vector.ignition,
      moving: vector.motion,
      battery_percent: vector.batteryPercent,
      charging: vector.charging,
      driver: vector.driver,
      alarms: [...new Set(alarms)],
    }),
  }
}

const voltage = (name: 'external_voltage' | 'battery_voltage', volts = -1): Said =>
  volts >= 0 ? { [name]: volts } : {}

const ALARMS_OF_PEER: Readonly<Record<string, Alarm>> = { removing: 'tampering' }
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const isAlarm = (name: string): name is Alarm => (ALARMS as readonly string[]).includes(name)

function meaningDifferences(vector: Vector, { device, error, fixes }: DecodeOutput): Difference[] {
  const expected = vector.positions.filter(({ noPosition }) => !noPosition)
  return [
    ...(error === undefined ? [] : [{ field: 'error', expected: undefined, got: error }]),
    ...(isDevice(vector, device) ? [] : [{ field: 'device', expected: vector.deviceId, got: device }]),
    ...(fixes.length === expected.length ? [] : [{ field: 'fixes', expected: expected.length, got: fixes.length }]),
    ...expected.flatMap((position, i) => fixDifferences(position, { device, ...fixes[i] }, `fixes[${i}]`)),
  ]
}

/** Where the peer made nothing of a frame, it does not say whose it is. */
function isDevice({ deviceId }: { readonly deviceId?: string }, device: string | undefined): boolean {
  return deviceId === undefined || device === deviceId
}

function fixDifferences(position: VectorPosition, fix: DecodedFix, where: string): Difference[] {
  if (fix.time === undefined && fix.lat === undefined) return []
  const skipped = [...(position.timeZoneDependent ?? []), ...(position.clockDependent ?? [])]
  const time = position.timeIsNow ? ARRIVED : Date.parse(position.time ?? '')
  const { speed = 0, heading = 0, altitude, accuracy, hdop, satellites } = fix
  const knots = (speed * 3600) / 1852
  const turn = Math.abs(heading - position.course) % 360
  const fields: readonly (readonly [name: string, isClose: boolean, expected: unknown, got: unknown])[] = [
    ['device', isDevice(position, fix.device), position.deviceId, fix.device],
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
    .map(([name, , expected, got]) => ({ field: `${where}.${name}`, expected, got }))
}

/** What a protocol or the vector leaves out is not compared. */
function absentOrNear(found: number | undefined, expected: number | undefined, tolerance: number): boolean {
  return found === undefined || expected === undefined || near(found, expected, tolerance)
}

function near(found: number | undefined, expected: number, tolerance: number): boolean {
  return found !== undefined && Math.abs(found - expected) <= tolerance + 1e-9
}

function replyDifferences(vector: Vector, { replies: got }: DecodeOutput): Difference[] {
  const expected = vector.replies ?? vector.repliesAckOn ?? []
  const same =
    expected.length === got.length &&
    expected.every((reply, i) => {
      const isMasked = reply.timeDependent || reply.systemTimeZoneDependent
      return printed(reply, isMasked) === printed(got[i], isMasked)
    })
  return same ? [] : [{ field: 'replies', expected: expected.map(shownReply), got: got.map(shownReply) }]
}

/** Comparable text of a reply; of one that holds the clock only the shape, digits masked. */
function printed({ http, bodyHex, hex, text }: VectorReply, masked = false): string {
  if (http !== undefined) return `${http} ${bodyHex}`
  const bytes = text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text)
  return masked ? bytes.toString('latin1').replace(/\d/g, '0') : bytes.toString('hex')
}
