/*
 * B2316 wristbands. No specification is known: inferred from frames. UDP, JSON:
 *
 *   {"imei":I,"data":[{"tm":T,…},…]}
 *
 *   I  IMEI     T  unix seconds
 *
 * Of the entries only reports without a position are known: ci cells, wi Wi-Fi, te temperature, hr and bp of the heart, st
 * steps, ba battery, sn signal, wn warning, ic and ve of the card and the firmware. A frame with other keys may hold a position.
 * Nothing is answered.
 */
import { DecodeError, type Message, objectOf, type Protocol, parseJson, trimEnd } from '../kit/index.ts'

export default {
  name: 'b2316',
  devices: 'B2316 wristbands',
  udp: { port: 5230 },
  decode,
} satisfies Protocol

const KNOWN = new Set(['tm', 'ci', 'wi', 'te', 'hr', 'bp', 'st', 'ba', 'sn', 'wn', 'ic', 've'])

function decode(frame: Buffer): Message {
  const { imei, data } = objectOf(parseJson(trimEnd(frame).toString()), 'the message')
  if (typeof imei !== 'string' || !Array.isArray(data)) throw new DecodeError('unsupported')
  const names = new Set(data.flatMap((entry) => Object.keys(objectOf(entry, 'an entry'))))
  if ([...names].some((name) => !KNOWN.has(name))) return { device: imei, fixes: [] }
  return { device: imei, none: names.has('wi') ? 'wifi' : names.has('ci') ? 'cells' : 'status' }
}
