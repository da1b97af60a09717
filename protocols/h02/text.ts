import {
  clock,
  DecodeError,
  type Draft,
  degreesMinutes,
  type Fix,
  hexadecimal,
  type Session,
  textProtocol,
} from '../kit/index.ts'
import { frameLength, starts } from './framing.ts'
import { saidOf } from './status.ts'

const HEAD = '*{any},[{id}],'
const PLACE = '[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course}'
/** Some devices have one more field in front of the date. */
const DATED = `${PLACE},[{extra},][{dmy}][,{state}]`
/** Of a type that is not known: the hemispheres must be there. */
const ANY_TYPE = '{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},[{extra},]{dmy}[,{state}]'
/** Where the status stands: behind the date of a position, behind the date of a report without one, or, of V19, at the end. */
const FIRST = /^([\dA-Fa-f]{8})(?:,(\d\d?)(?:,3,\d{3},|$)|,|$)/
const BEHIND_DATE = /(?:^|,)\d{6},([\dA-Fa-f]{8})(?:,|$)/
const LAST = /,([\dA-Fa-f]{8})$/
/** A command and up to six parameters of it. */
const COMMAND = '{any},[{any},[{any},[{any},[{any},[{any},[{any},]]]]]]'

/** The frames `*HQ,…#`, for `decode`. */
export const text = textProtocol({
  name: 'h02',
  devices: 'Sinotrack ST-901, ST-906, LK109, LK209, TK110 and clones',
  acknowledges: 'some',
  port: 5013,
  transports: ['tcp', 'udp'],
  frame: frameLength,
  starts,
  ends: '#',
  fields: {
    maker: { like: '[A-Za-z]{2}' },
    type: { like: 'V\\d+' },
    silent: { like: 'LINK|BASE|XT' },
    length: { like: '\\d*' },
    alarm: { alarms: { 1: 'sos', 2: 'low_battery' } },
    state: { read: statusAt(FIRST) },
    dated: { read: statusAt(BEHIND_DATE) },
    ending: { read: statusAt(LAST) },
    extra: { like: '[-\\d.]{1,5}' },
    valid: { like: '[A-Z0-9]', read: (letter, draft) => void (draft.valid = letter !== 'V') },
    latNmea: { like: ' *[-\\d.]*', read: (angle, draft) => void (draft.latitude = degreesOf(angle)) },
    lonNmea: { like: ' *[-\\d.]*', read: (angle, draft) => void (draft.longitude = degreesOf(angle)) },
    ns: { like: '[NSns0]' },
    ew: { like: '[EWew0]' },
  },
  lines: [
    { like: `${HEAD}V1,{hms},${DATED}`, answer: v1 },
    { like: `${HEAD}V4,${COMMAND}{any},{hms},${DATED}`, answer: r12 },
    { like: `${HEAD}V4,{any},{hms},${DATED}`, answer: r12 },
    { like: `${HEAD}ALRM,{alarm},{hms},${DATED}`, answer: r12 },
    {
      like: `${HEAD}BC,{hms},{length},{records}`,
      fixes: { split: ';', like: `${PLACE},[ ]{day}{hhmmss}[,{state}]` },
      fix: ofLastMonth,
    },
    { like: `${HEAD}VP1,${PLACE},{dmy}[,{state}]` },
    { like: `${HEAD}VP1,V,{any}`, none: 'cells' },
    { like: `${HEAD}V3,{dated}`, none: 'cells' },
    { like: `${HEAD}V19,{hms},${PLACE},[{extra},][{dmy}][,{ending}]`, answer: r12 },
    { like: `${HEAD}{type},{hms},${DATED}`, answer: r12 },
    { like: `${HEAD}HTBT[,{batteryPercent}][,{any}]`, none: 'heartbeat', answer: '*HQ,{id},HTBT#' },
    { like: `${HEAD}NBR,{dated}`, none: 'cells', answer: '*HQ,{id},V4,NBR,{clock}#' },
    { like: `${HEAD}LINK,{any:3},{batteryPercent},{any:2},{dated}`, none: 'status' },
    { like: `${HEAD}{silent}[,{dated}]`, none: 'status' },
    { like: `${HEAD}SMS,{any}`, none: 'text' },
    { like: `${HEAD}{any},{hms},${ANY_TYPE}`, answer: r12 },
    { like: `${HEAD}{any},${ANY_TYPE}` },
    { like: '*{maker},[{id}][,]', none: 'heartbeat' },
    { like: `${HEAD}V{any}`, unknown: 'position' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})

/** A position is confirmed; a report without a place is not. */
function v1(draft: Draft, session: Session): string | undefined {
  return draft.isPlaced ? `*HQ,${draft.device ?? session.device ?? ''},V4,V1,${clock(session.now)}#` : undefined
}

function r12(draft: Draft, session: Session): string | undefined {
  return draft.isPlaced ? confirmation(draft.device ?? session.device ?? '', session.now) : undefined
}

/** Confirms a position of another type than V1; it begins with *HQ, also where the device's frames begin with *TH. */
export function confirmation(id: string, now: number): string {
  return `*HQ,${id},R12,${clock(now).slice(8)}#`
}

/** Reads a status where a pattern finds it, and what may follow the first one: the charge of the battery, then "3" and cells, or nothing. */
function statusAt(pattern: RegExp): (tail: string, draft: Draft) => void {
  return (tail, draft) => {
    const [, status, charge] = pattern.exec(tail) ?? []
    if (status === undefined) return
    draft.says(saidOf(hexadecimal(status)))
    if (charge !== undefined) draft.beside.battery_percent = +charge === FULL ? 100 : +charge
  }
}

const FULL = 99

/** The fix of a record that has the day alone of its date. */
function ofLastMonth(draft: Draft, session: Session): Fix | undefined {
  if (draft.day !== undefined) {
    const latest = new Date(session.now + 86_400_000)
    const month = latest.getUTCMonth() + (draft.day <= latest.getUTCDate() ? 1 : 0)
    draft.month = month === 0 ? 12 : month
    draft.year = latest.getUTCFullYear() - (month === 0 ? 1 : 0)
  }
  return draft.fix(session)
}

/** Degrees, without their sign, of dddmm.mmmm, of dddmmmmmm, or of -ddd-mm.mmmm. */
function degreesOf(angle: string): number {
  const [, degrees, minutes] = (angle.startsWith('-') && /^-(\d+)-(\d+\.\d+)$/.exec(angle)) || []
  if (minutes !== undefined) return +degrees + +minutes / 60
  const value = +angle
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw new DecodeError('malformed', `"${angle.slice(0, 40)}" is not an angle`)
  return degreesMinutes(angle.length >= 8 && !angle.includes('.') ? value / 1e4 : value)
}
