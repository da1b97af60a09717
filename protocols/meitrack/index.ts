/*
 * Meitrack MVT, T1, T3, T6, MT90, P88, P99 …: "MEITRACK GPRS protocol" V1.6, §1.2, and "T622 GPRS Protocol", §1.2, §3.45; TCP
 * and UDP. A frame is a line, or holds binary records (little-endian):
 *
 *   $$fL,I,AAA,e,Y,O,T,A,s,g,S,C,d,H,m,r,b,i,V,k,…*CC      position; so are AFF, A10 (on request) …, [index,] before e
 *   $$fL,I,CCC,vv ll nnnn R…*CC                    positions of l bytes each; answer @@fL,I,CCC,<how many>*CC
 *       R  e YYYY OOOO TTTT A s g SS CC dd HH mmmm rrrr bbbbbbbb ii V…
 *   $$fL,I,CCE,nnnn kk R…*CC                       k positions
 *       R  ll pp, then three groups of parameters of 1, 2, 4 bytes: how many, (id, value)…, then those of any length
 *   $$fL,I,<letter and two digits>,…*CC            answer to a command
 *
 *   f  any character            Y, O  degrees, 1e-6 in records      S  km/h        e  event       g  GSM signal
 *   L  length from , to LF      T  YYMMDDhhmmss; seconds since      C  degrees     n  cached      v  version
 *   I  IMEI                        2000 in records                  d  HDOP, 0.1 in records
 *   CC sum of $$ to *           A  A, 1: valid; V, 0: not           H  metres      s  satellites
 *   m  way  r  time of run      b  cell  i  inputs and outputs      k  card, at event 37
 *   V  a|a|a|battery|power, hex: by model × 0.01 V, or × 3 V ÷ 1024 or × 3.3 V ÷ 4096 with a divider of 2 and of 16. A
 *      battery of one cell has 2.8 to 4.5 V, so its number shows which. Newer: battery|power|…, with a point. Records: 0.01 V
 *
 * CCE is in no public document. Its ids, those of two bytes begin with FE, were inferred from frames: 02 latitude, 03
 * longitude, 04 time, 05 validity, 06 satellites, 08 speed, 09 course, 0A HDOP, 0B altitude, 01 event, 19 battery and
 * 1A power (0.01 V), 25 card, FE69 battery (%); and that it is not answered.
 */
import {
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  sum8,
  TextWriter,
  textProtocol,
  trimEnd,
  verifiedHex,
} from '../kit/index.ts'
import { compactFixes, compactRecords, EVENTS, type Records, taggedFixes, voltagesOf } from './records.ts'

/** The event of an RFID card, whose number follows the voltages. */
const RFID = '37'
const HEAD = '$${flag}{length},{id},'
const PLACE = '{lat},{lon},{ymd}{hhmmss},[{valid}],{satellites},{any},{speedKmh},{course}'

const text = textProtocol({
  name: 'meitrack',
  devices: 'Meitrack MVT100 to MVT800, T1, T3, T311 to T633, TC68, MT90, P88, P99',
  acknowledges: 'some',
  integrity: { sum: 'sum8', to: '*', includesTo: true, digits: 2 },
  port: 5020,
  transports: ['tcp', 'udp'],
  frame: lengthField({ start: '$$', at: 3, width: 5, digits: 10, until: ',', add: 0, end: '\r\n' }),
  fields: {
    flag: { like: '[^]' },
    length: { like: '\\d+' },
    command: { like: '[A-Z]\\d\\d' },
    report: { like: '[A-Z][A-Z\\d]{2}' },
    index: { like: '\\d+' },
    event: { alarms: EVENTS },
    voltages: { read: (field, draft) => draft.says(voltagesOf(field)) },
    key: { read: (driver, draft) => draft.text('event') === RFID && draft.says({ driver }) },
  },
  lines: [
    ...['', '{index},'].map((index) => ({
      like: `${HEAD}{report},${index}{event},${PLACE}[,{hdop}[,{altitude}[,{any:4},{voltages}[,{key}[,{any}]]]]][*{any}]`,
    })),
    { like: `${HEAD}{report},[{index},]{event},${PLACE},{hdop},{altitude},{any}` },
    { like: `${HEAD}AAA,{any}`, unknown: 'position' },
    { like: `${HEAD}{command}[,{any}]`, none: 'command answer' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})

export default { ...text, decode } satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const [head, flag, device, type] = RECORDS.exec(frame.toString('latin1', 0, 64)) ?? []
  if (head === undefined) return text.decode(frame, session)
  const body = verifiedHex(trimEnd(frame), { sum: sum8, from: 0, width: 2 }, session).subarray(head.length, -1)
  if (type === 'CCE') return enveloped({ device: device || undefined }, () => messageOf(taggedFixes(body)))
  return enveloped({ device: device || undefined }, () => {
    const records = compactRecords(body)
    const reply = confirmation(`${device},CCC,${records.length}`, flag)
    return enveloped({ reply }, () => messageOf(compactFixes(records)))
  })
}

/** The head of a frame with records. */
const RECORDS = /^\$\$([^])\d+,([^,]*),(CC[CE]),/

function messageOf({ good, unreadable }: Records): Message {
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0 ? { fixes, unreadable } : { none: 'no place', unreadable }
}

function confirmation(words: string, flag: string): Buffer {
  return new TextWriter('upper')
    .text(`@@${flag}${words.length + 6},${words}*`)
    .sum8()
    .text('\r\n')
    .toBuffer()
}
