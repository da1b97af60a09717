/*
 * V680, JS810, JS820 and clones: "GPRS protocol between tracker and server" V2.0, as far as the frames show it. TCP and UDP,
 * text that ends with ##:
 *
 *   #I#u#g#p#k#n{#b#O,E,Y,N,S,C#DDMMYY#hhmmss}##     positions, as many as n says
 *   g#p#k#n{…}##     and     #I##                     the same and a login: ends are found within a frame without u
 *
 *   I  IMEI     g  0: not valid     k  event     b      cells and V           S  knots
 *   u  user     p  password         O, Y  ddmm.mmmm     C  degrees
 *
 * An empty b looks like the end of the frame; the one behind n is known to be none, others cut a stream. Nothing is answered.
 */
import {
  DecodeError,
  degreesMinutes,
  EndSearch,
  endsWith,
  enveloped,
  type Fix,
  heading,
  knots,
  known,
  type Message,
  type Protocol,
  readableFixes,
  type Stream,
  said,
  TextReader,
  utcDmy,
} from '../kit/index.ts'

const firstEnd = endsWith('##', '##\r\n')
const secondEnd = new EndSearch('##')

export default {
  name: 'v680',
  devices: 'V680 and clones',
  tcp: { port: 5016, frame: frameLength },
  udp: { port: 5016, frame: frameLength },
  decode,
} satisfies Protocol

const HASH = 0x23
const LONGEST_HEAD = 128
/** What stands in front of positions, and an empty b. */
const HEAD_ALONE = /^(?:#\d{10,17}#[^#]*#)?\d{0,3}#[^#]*#[^#]+#0*[1-9]\d{0,3}##$/

function frameLength(bytes: Buffer, stream: Stream): number {
  const end = firstEnd(bytes, stream)
  const isWithin = end > 0 && end <= LONGEST_HEAD && HEAD_ALONE.test(bytes.toString('latin1', 0, end))
  // Behind the head come positions, which begin with a digit, or the next frame.
  return isWithin && bytes[end] !== HASH ? secondEnd.after(bytes, end, stream) : end
}

const FRAME = /^(?:#(\d{10,17})#[^#]*#)?(\d{0,3})#[^#]*#([^#]+)#\d{0,4}#/
const PLACE = /^[\d.]+,[EWew],/
const LOGIN = /^#(\d{10,17})$/

function decode(bytes: Buffer): Message {
  const text = bytes
    .toString('latin1')
    .trim()
    .replace(/#{1,2}$/, '')
  const login = LOGIN.exec(text)
  if (login) return { device: login[1], none: 'login' }
  const [head, device, gps, event] = FRAME.exec(`${text}#`) ?? []
  if (head === undefined) throw new DecodeError('unsupported')
  const parts = text.slice(head.length).split('#')
  const records = parts.flatMap((part, i) => (PLACE.test(part) ? [parts.slice(i, i + 3)] : []))
  if (records.length === 0) return head.endsWith('#0#') ? { device, none: 'no fix' } : { device, fixes: [] }
  return enveloped({ device }, () => fixesOf(records, { valid: gps !== '0', event }))
}

function fixesOf(records: readonly (readonly string[])[], { valid, event }: Head): Message {
  const besides = event === 'SOS' ? said({ alarms: ['sos'] }) : undefined
  const read = (record: readonly string[]) => {
    const fix = fixOf(record, valid)
    return fix && { ...fix, said: besides }
  }
  return readableFixes(records, read, { none: 'no date' })
}

/** What a frame says of all its positions. */
interface Head {
  readonly valid: boolean
  readonly event: string
}

/** Undefined where the clock was never set. */
function fixOf([place, date = '', time = '']: readonly string[], valid: boolean): Fix | undefined {
  if (time === '') throw new DecodeError('truncated')
  if (/^0+$/.test(date)) return undefined
  const r = new TextReader(place, ',')
  const longitude = degreesMinutes(r.number()) * (r.next().toUpperCase() === 'W' ? -1 : 1)
  const latitude = degreesMinutes(r.number()) * (r.next().toUpperCase() === 'S' ? -1 : 1)
  const speed = known(r.optionalNumber())
  return {
    time: utcDmy(date, time),
    latitude,
    longitude,
    valid,
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(r.optionalNumber()),
  }
}
