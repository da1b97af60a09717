/*
 * Queclink GL, GV, GB, GMT …: "@Track Air Interface Protocol" of each model (GL200 1.02, GV300 0.7, GL520 5.02, GV600MG 1.03),
 * as text here, or in binary: hex.ts.
 *
 *   +RESP:GTttt,V…,I…,N…, …[,A,S,G,H,O,Y,YYYYMMDDhhmmss,x,x,x,x[,M,s] …], …,YYYYMMDDhhmmss,C…$  +BUFF: sent later
 *   +ACK:GTttt,V…,I…,N…, …,YYYYMMDDhhmmss,C…$     answer to a command, may have a place; GTHBD: heartbeat
 *
 *   ttt  type of report     I  IMEI or MEID     C  count, hexadecimal              H  altitude, m
 *   V    version            N  name             A  HDOP; 0: the last known place   O, Y  longitude, latitude, degrees
 *   S  km/h   G  heading    x  cell             M  mask, bit 0: s follows          s  satellites     time: UTC
 *   Answer: +SACK:C$, and to GTHBD +SACK:GTHBD,V,C$
 *
 * What stands between the name and a place differs from type to type, model to model and mask to mask; a place is always the
 * same seven fields in a row, and is found by its last three. Some models leave out V, or end with 00 in place of $. The last
 * place of a report has what else it says: said.ts.
 */
import {
  DecodeError,
  dialects,
  dop,
  eachReadable,
  endsWith,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  queclinkFrames,
  utcYmd,
} from '../kit/index.ts'
import { hexCovers, hexFrames } from './hex.ts'
import { saidBy } from './said.ts'
import { KINDS } from './types.ts'

const spoken = dialects([
  { when: ['+RESP:', '+BUFF:', '+ACK:'], frame: endsWith('$', '\0'), decode },
  ...hexFrames,
  ...queclinkFrames,
])

export default {
  name: 'gl200',
  devices: 'Queclink GL200, GL300, GL500, GV55, GV65, GV75, GV300, GV350, GV500, GB100, GMT100 …',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE or CRC-8 (31, FF), of binary frames', covers: hexCovers },
  tcp: { port: 5004, frame: spoken.frame },
  udp: { port: 5004, frame: spoken.frame },
  decode: spoken.decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const whole = frame.toString('latin1')
  const end = whole.search(END)
  const text = end < 0 ? whole : whole.slice(0, end)
  const [, type, version, id] = HEAD.exec(text) ?? []
  if (id === undefined) throw new DecodeError('malformed', 'the frame has no id')
  const fields = text.split(',')
  const count = fields[fields.length - 1]
  const device = IMEI.test(version) ? version : id
  if (type === 'HBD') return { device, none: 'heartbeat', reply: Buffer.from(`+SACK:GTHBD,${version},${count}$`) }
  const places = placesIn(fields)
  if (places.length > 0 && OF_GL100.test(text)) throw new DecodeError('unsupported', 'its place is that of a GL100')
  return enveloped({ device, reply: Buffer.from(`+SACK:${count}$`) }, () => {
    const isAnswer = text.startsWith('+ACK')
    if (isAnswer && places.length === 0) return { none: 'command answer' }
    const said = isAnswer || device === version ? undefined : saidBy(type, fields)
    if (places.length === 0) return { ...placeless(type, text), said }
    const { good, unreadable } = eachReadable(places, (at) => place(fields, at))
    if (said) good[good.length - 1].said = said
    return { fixes: good, unreadable }
  })
}

const END = /[$\0]/
const HEAD = /^[^,]*([^,]{3}),([\w-]{0,20}),([\w-]{1,20}),/
const IMEI = /^\d{15}$/
/** The IMEI stands first and the versions last: then a place has its fields in another order. */
const OF_GL100 = /^[^,]*,\d{15},.*,\d{10}(?:,[^,]*)?$/
const DATE = /^20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}$/
const ANGLE = /^-?\d{1,3}\.\d{4,}$/
const QUANTITY = /^-?\d{1,9}(?:\.\d+)?$/
/** The field behind the cell: a mask in hexadecimal, whose lowest bit says that the number of satellites follows. */
const HAS_SATELLITES = /^0[13579BDF]$/
/** Speed, heading, altitude, longitude and latitude without a value. */
const NO_PLACE = ',,,,,,'

/** Where the dates of places are. */
function placesIn(fields: readonly string[]): readonly number[] {
  const places: number[] = []
  for (let at = 6; at < fields.length; at++) if (isPlace(fields, at)) places.push(at)
  return places
}

function placeless(type: string, text: string): Pick<Message, 'fixes' | 'none'> {
  const kind = KINDS.get(type)
  if (kind !== 'position') return kind === undefined ? {} : { none: kind }
  return type === 'CAN' || text.includes(NO_PLACE) ? { none: 'no place' } : { fixes: [] }
}

/** Whether the field at an index is the date of a place. The length decides most fields without an expression. */
function isPlace(fields: readonly string[], at: number): boolean {
  if (fields[at].length !== 14 || !DATE.test(fields[at])) return false
  return ANGLE.test(fields[at - 1]) && ANGLE.test(fields[at - 2])
}

/** The place whose date is the field at an index. A last known place has its own time: it is a fix like any other. */
function place(fields: readonly string[], at: number): Fix {
  const speed = quantity(fields[at - 5])
  return {
    time: utcYmd(fields[at]),
    latitude: Number(fields[at - 1]),
    longitude: Number(fields[at - 2]),
    valid: true,
    altitude: quantity(fields[at - 3]),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(quantity(fields[at - 4])),
    hdop: dop(quantity(fields[at - 6])),
    satellites: HAS_SATELLITES.test(fields[at + 5]) ? quantity(fields[at + 6]) : undefined,
  }
}

const quantity = (text: string) => (QUANTITY.test(text) ? Number(text) : undefined)
