/*
 * Starlink STL060 (India). No specification is known: inferred from frames. TCP, text without an end:
 *
 *   $1,I,c,p,DD/MM/YY,hh:mm:ss,YN,OE,S,C,i,…[,r,…],A     the fields in front of A are inputs and meters
 *
 *   I  IMEI     c  driver, p  plate     Y, O  ddmm.mmmm, dddmm.mmmm, the point may be missing     S  knots     C  degrees     A  valid
 *   i  ignition, r  ten digits of the driver's card, in the sixth field from it on (inferred)
 *
 * Nothing is answered.
 */
import { degreesMinutes, startsWith, textProtocol } from '../kit/index.ts'

const HEAD = '[{letter}]$1,{imei},{any:2},{day}/{month}/{yy},{hour}:{minute}:{second}'

const INPUTS = '[,{ignition}[,{any:4},{card}]][,{any}]'

export default textProtocol({
  name: 'stl060',
  devices: 'STL060',
  port: 5060,
  frame: startsWith('$1,'),
  fields: {
    latDigits: { like: '\\d{8}', read: (text, draft) => void (draft.latitude = angle(text)) },
    lonDigits: { like: '\\d{9}', read: (text, draft) => void (draft.longitude = angle(text)) },
    card: { like: '\\d{10}', read: (text, draft) => draft.says({ driver: text }) },
    letter: { like: '[AV]', read: (text, draft) => void (draft.valid = text === 'A') },
  },
  before: letterFirst,
  lines: [
    {
      like: `${HEAD},{latDigits}{ns},{lonDigits}{ew},{speedKnots},{course}${INPUTS}`,
      fix: (draft, session) => draft.fix(session),
    },
    { like: `${HEAD},{latNmea}{ns},{lonNmea}{ew},{speedKnots},{course}${INPUTS}` },
    { like: '[{letter}]$1,{imei},{any}', unknown: 'position' },
  ],
})

/** How many fields stand in front of the flag differs by firmware: the flag is read first. */
function letterFirst(text: string): string {
  return `${/,([AV]),?\s*$/.exec(text)?.[1] ?? ''}${text}`
}

/** Degrees of ddmmmmmm: minutes with four places. */
function angle(digits: string): number {
  return degreesMinutes(+digits / 1e4)
}
