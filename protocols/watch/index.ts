/*
 * Watches and phones for children and elderly people (3G Electronics, Wonlex, Setracker …): "GPS tracker watch communication
 * protocol" (4p-touch.com/beesure-gps-setracker-server-protocol.html). Text between brackets; the length counts bytes without escapes. TCP, no checksum. In the content 7D and a code
 * stand for another byte: 01 for 7D, 02 for [, 03 for ], 04 for a comma, 05 for *.
 *
 *   [VV*I*LLLL*TYPE,…]   [VV*I*NNNN*LLLL*TYPE,…]
 *   TYPE,D,T,A,Y,N,O,E,S,C,H,s,g,p,steps,turns,F,…   UD, UD2, UD_LTE … : position; AL, AL_LTE … : alarm with a position
 *   LK,steps,turns,p                    link kept; or LK alone
 *   WG,D,…  WAD,language,D,…            questions for a place, an address: with a position; not answered
 *
 *   V  maker: 3G, SG, ZJ, CS     T  hhmmss              S  km/h         Y, O  degrees, of which the sign
 *   I  id                        A  A: valid, V: not    C  degrees            or the letter says the hemisphere
 *   N  serial number             N, E  hemispheres      H  metres
 *   L  length from TYPE on, hex  D  DDMMYY              s  satellites  p  battery, %
 *   F  status, hex: bit 16 SOS, 17 battery low, 20 watch taken off; bits 0 to 15 are states, no alarms
 *
 * Answers: [VV*I*LLLL*TYPE] to LK (link kept), TKQ (a request) and AL, named by these letters alone; INIT,1 to INIT.
 */
import {
  type Alarm,
  alarmsIn,
  DecodeError,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  optionalNumber,
  type Protocol,
  type Said,
  type Stream,
  said,
  TextReader,
  unescape,
  utcDmy,
} from '../kit/index.ts'

const ESCAPE = 0x7d
const CODES = new Map([
  [0x01, 0x7d],
  [0x02, 0x5b],
  [0x03, 0x5d],
])
const SEPARATOR_CODES = new Map([
  [0x04, 0x2c],
  [0x05, 0x2a],
])

export default {
  name: 'watch',
  devices: 'Watches of 3G Electronics, Wonlex, Setracker and others: Q50, Q90, GW100, D99, EW100',
  acknowledges: 'some',
  escaping: { escape: ESCAPE, codes: CODES, optional: SEPARATOR_CODES },
  tcp: { port: 5093, frame: frameLength },
  decode,
} satisfies Protocol

const HEAD = /^([^*,]{2,4})\*([^*,]+)\*(?:([0-9a-fA-F]{4})\*)?([0-9a-fA-F]{4})\*/
/** Types that hold no position, by what precedes the first comma. */
const NONE = new Map([
  ['INIT', 'login'],
  ['LK', 'heartbeat'],
  ['KA', 'heartbeat'],
  ['TKQ', 'heartbeat'],
  ['TKQ2', 'heartbeat'],
  ['heart', 'health'],
  ['BLOOD', 'health'],
  ['PULSE', 'health'],
  ['TEMP', 'health'],
  ['bphrt', 'health'],
  ['btemp2', 'health'],
  ['oxygen', 'health'],
  ['TK', 'audio'],
  ['img', 'photo'],
])
/** Types of alarms; others that begin with AL are alarms if a position follows. */
const ALARM = /^AL(?:_|\d|$)/
/** What begins a message of another type that has a position all the same. */
const PLACE = /^[^,]+,\d{6},\d{6},[AV],/
const ANSWERED = new Set(['INIT', 'LK', 'TKQ', 'TKQ2'])
const OPEN = 0x5b
const CLOSE = 0x5d
const ALL_CODES = new Map([...CODES, ...SEPARATOR_CODES])
/** The longest head. */
const HEAD_LENGTH = 64
/** The longest message that may end before its length, and with nothing behind it. */
const MOST_UNEVEN = 4096
const end = new EndSearch(CLOSE)
const next = new EndSearch(['][', ']\r', ']\n'])

/**
 * A message ends at its length, which does not count escapes; or, where the length is wrong, before the next message, or when
 * all brackets are closed. Names of networks may hold brackets.
 */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes[0] !== OPEN) {
    const start = bytes.indexOf(OPEN)
    return start < 0 ? -bytes.length : -start
  }
  const head = HEAD.exec(bytes.toString('latin1', 1, HEAD_LENGTH))
  if (!head) return bytes.length < HEAD_LENGTH && bytes.indexOf(CLOSE) < 0 ? 0 : -1
  const from = 1 + head[0].length
  const last = from + Number.parseInt(head[4], 16)
  if (bytes[last] === CLOSE) return last + 1
  const found = next.after(bytes, from, stream)
  if (found > 0) return found - 1
  if (bytes.length <= MOST_UNEVEN && bytes[bytes.length - 1] === CLOSE && isClosed(bytes)) return bytes.length
  return bytes.length > last ? end.after(bytes, last, stream) : 0
}

function isClosed(bytes: Buffer): boolean {
  let open = 0
  for (const byte of bytes) open += byte === OPEN ? 1 : byte === CLOSE ? -1 : 0
  return open === 0
}

function decode(frame: Buffer): Message {
  if (frame[0] !== OPEN) throw new DecodeError(frame.length === 0 ? 'truncated' : 'unsupported')
  const content = frame.subarray(1, frame.at(-1) === CLOSE ? -1 : undefined)
  const text = unescape(content, ESCAPE, ALL_CODES).toString('latin1')
  const head = HEAD.exec(text.slice(0, HEAD_LENGTH))
  if (!head) throw new DecodeError('malformed', 'its head has no id or no length')
  const [{ length }, maker, device, serial] = head
  const r = new TextReader(text.slice(length), ',')
  const type = r.next()
  const answer = (name: string) =>
    Buffer.from(
      `[${maker}*${device}*${serial === undefined ? '' : `${serial}*`}${name.length.toString(16).padStart(4, '0')}*${name}]`,
    )
  const isPlaced = PLACE.test(text.slice(length))
  const isAlarm = ALARM.test(type) || (type.startsWith('AL') && isPlaced)
  if (type === 'WAD') r.skip()
  if (isAlarm || /^(?:UD(?:_|\d|$)|WG$|WAD$)/.test(type) || (!NONE.has(type) && isPlaced))
    return enveloped({ device, reply: isAlarm ? answer('AL') : undefined }, () => placeOf(r))
  return {
    device,
    none: NONE.get(type),
    said: type === 'LK' ? saidByLink(r) : undefined,
    reply: ANSWERED.has(type) ? answer(type === 'INIT' ? 'INIT,1' : type) : undefined,
  }
}

/** LK,steps,turns,charge: the charge is left out, or all three are. */
function saidByLink(r: TextReader): Said | undefined {
  const [, , charge] = r.rest().split(',')
  return said({ battery_percent: optionalNumber(charge) })
}

function placeOf(r: TextReader): Message {
  if (r.ended) return { none: 'no place' }
  const [date, clock, validity] = [r.next(), r.next(), r.next()]
  const valid = validity === 'A'
  if (!valid && !/[1-9]/.test(date)) return { none: 'no date' }
  const time = utcDmy(date, clock)
  const latitude = angleOf(r)
  const longitude = angleOf(r)
  const speed = r.optionalNumber()
  const course = r.optionalNumber()
  const altitude = r.optionalNumber()
  const satellites = r.optionalNumber()
  const besides = saidBehind(r.rest())
  if (latitude === undefined || longitude === undefined) return { none: 'no place', said: besides }
  const fix: Fix = {
    time,
    latitude,
    longitude,
    valid,
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(course),
    altitude,
    satellites,
    said: besides,
  }
  return { fixes: [fix] }
}

/** GSM signal, charge of the battery, steps, turns, status: eight hexadecimal digits, their upper half alarms. */
function saidBehind(text: string): Said | undefined {
  const [, charge, , , status = ''] = text.split(',', 5)
  return said({
    battery_percent: optionalNumber(charge),
    alarms: STATUS.test(status) ? alarmsIn(Number.parseInt(status.slice(0, 4), 16), ALARMS) : undefined,
  })
}

const STATUS = /^[0-9a-fA-F]{8}$/
/** From bit 16 of the status on; 18 and 19 are fences, 21 a fall. */
const ALARMS: readonly (Alarm | undefined)[] = ['sos', 'low_battery', undefined, undefined, 'tampering']

/** Degrees and a letter; devices of the south and west have a sign, a letter, or both. */
function angleOf(r: TextReader): number | undefined {
  const value = r.numberOrEmpty()
  const letter = r.next()
  if (value === undefined) return undefined
  return letter === 'S' || letter === 'W' ? -Math.abs(value) : value
}
