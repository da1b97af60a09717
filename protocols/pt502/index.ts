/*
 * Bofan PT502, Portman and others: "Protocol and command list" V1.2 (Bofan), as an owner quotes it, the rest inferred from frames.
 * Lines of text that end with CR or LF; five bytes, BF FB and a counter, may stand in front of what is sent. TCP, no checksum.
 *
 *   $TYPE,I,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,,…/i,o/a/d/K/uvs/…       POS, HDA, DFR … : position; PHO…: with a photo in memory
 *   $FUSI,…                                                 login
 *   $PHD0,L,…                                               a part of a photo, of L bytes
 *
 *   I  id        Y, N, O, E  ddmm.mmmm and hemispheres       S  knots      s  satellites, hexadecimal
 *   A  A: valid, V: not      i, o, a  inputs, outputs        C  degrees    d  odometer      K  driver
 */
import {
  DecodeError,
  degreesMinutes,
  dialects,
  endsWith,
  enveloped,
  type Fix,
  heading,
  knots,
  lengthField,
  type Message,
  type Protocol,
  said,
  TextReader,
  trimEnd,
  utcDmy,
} from '../kit/index.ts'

const PHOTO = ['$PHD0,', '$PHD1,', '$PHD2,', '$PHD3,', '$PHD4,', '$PHD5,', '$PHD6,', '$PHD7,', '$PHD8,', '$PHD9,']
const { frame } = dialects([
  {
    when: PHOTO,
    frame: lengthField({ start: '$PHD', at: 6, width: 4, digits: 10, until: ',', add: 1, most: 4096 }),
  },
  { when: '$', frame: endsWith('\r', '\n') },
])

export default {
  name: 'pt502',
  devices: 'Portman PT502, PT600, GT3101, VT900',
  tcp: { port: 5017, frame },
  decode,
} satisfies Protocol

function decode(packet: Buffer): Message {
  const text = trimEnd(packet).toString('latin1')
  if (text.startsWith('$PHD')) return { none: 'photo' }
  const login = /^\$FUS(\d+)(?:,|$)/.exec(text.slice(0, 64))
  if (login) return { device: login[1], none: 'login' }
  if (!/^\$[A-Z][A-Z\d]{2}[\d-]*,/.test(text.slice(0, 32))) throw new DecodeError('unsupported')
  const r = new TextReader(text, ',')
  const device = r.skip().next()
  if (!/^\w+$/.test(device)) throw new DecodeError('malformed', 'the frame has no id')
  return enveloped({ device }, () => {
    const fix = fixOf(r)
    return fix ? { fixes: [fix] } : { none: 'no place' }
  })
}

/** Of u, v and s. */
const SATELLITES = /^[0-9a-fA-F]{2}([0-9a-fA-F])$/

/** Undefined where the place is empty. */
function fixOf(r: TextReader): Fix | undefined {
  const time = r.next()
  const valid = r.next() === 'A'
  const [north, ns, east, ew] = [r.numberOrEmpty(), r.next(), r.numberOrEmpty(), r.next()]
  if (north === undefined || east === undefined) return undefined
  const speed = r.optionalNumber()
  const course = heading(r.optionalNumber())
  const date = r.next()
  const [, , , , driver, signals = ''] = r.rest().split('/', 6)
  const [, satellites] = SATELLITES.exec(signals) ?? []
  return {
    time: utcDmy(date, time),
    latitude: degreesMinutes(north) * signOf(ns),
    longitude: degreesMinutes(east) * signOf(ew),
    valid,
    speed: speed === undefined ? undefined : knots(speed),
    heading: course,
    satellites: satellites === undefined ? undefined : Number.parseInt(satellites, 16),
    said: said({ driver: driver || undefined }),
  }
}

function signOf(letter: string): 1 | -1 {
  if (!/^[NSEW]$/i.test(letter)) throw new DecodeError('malformed', `"${letter.slice(0, 40)}" is no hemisphere`)
  return 'SWsw'.includes(letter) ? -1 : 1
}
