import { clock, DecodeError, type Draft, degreesMinutes, type Session, textProtocol } from '../kit/index.ts'
import { frameLength, starts } from './framing.ts'

const HEAD = '*{any},[{id}],'
const PLACE = '[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course}'
/** Some devices have one more field in front of the date. */
const DATED = `${PLACE},[{extra},][{dmy}][,{any}]`
/** Of a type that is not known: the hemispheres must be there. */
const ANY_TYPE = '{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},[{extra},]{dmy}[,{any}]'
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
    type: { like: 'V\\d+' },
    silent: { like: 'LINK|BASE|XT' },
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
    { like: `${HEAD}VP1,${PLACE},{dmy}[,{any}]` },
    { like: `${HEAD}VP1,V,{any}`, none: 'cells' },
    { like: `${HEAD}V3,{any}`, none: 'cells' },
    { like: `${HEAD}{type},{hms},${DATED}`, answer: r12 },
    { like: `${HEAD}HTBT[,{any}]`, none: 'heartbeat', answer: '*HQ,{id},HTBT#' },
    { like: `${HEAD}NBR,{any}`, none: 'cells', answer: '*HQ,{id},V4,NBR,{clock}#' },
    { like: `${HEAD}{silent},{any}`, none: 'status' },
    { like: `${HEAD}SMS,{any}`, none: 'text' },
    { like: `${HEAD}{any},{hms},${ANY_TYPE}`, answer: r12 },
    { like: `${HEAD}{any},${ANY_TYPE}` },
    { like: '*{any},[{id}][,]', none: 'heartbeat' },
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

/** Degrees, without their sign, of dddmm.mmmm, of dddmmmmmm, or of -ddd-mm.mmmm. */
function degreesOf(angle: string): number {
  const [, degrees, minutes] = /^-(\d+)-(\d+\.\d+)$/.exec(angle) ?? []
  if (minutes !== undefined) return +degrees + +minutes / 60
  const value = +angle
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw new DecodeError('malformed', `"${angle.slice(0, 40)}" is not an angle`)
  return degreesMinutes(angle.length >= 8 && !angle.includes('.') ? value / 1e4 : value)
}
