/*
 * Wristbands of the kind YX. No specification is known: inferred from frames. TCP; text in an envelope.
 *
 *   000102 LLLL YX<IMEI>|V1.0|<n>|{Fxx#content}\r\n FFFEFC          answer: the same with n = 0
 *
 *   F01  heartbeat, begins with the charge, %: answer {F01#1}      F03  wifi      F64  answered with its own content
 *   F02  position, of a layout that is not known       F04  cells      F91  asks for the time and an address
 *
 * F91 is not answered: the address in its answer is where the device reports to from then on.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  lengthField,
  type Message,
  optionalNumber,
  type Protocol,
  said,
} from '../kit/index.ts'

export default {
  name: 'wristband',
  devices: 'wristbands that begin with YX',
  acknowledges: 'some',
  tcp: {
    port: 5174,
    frame: lengthField({
      start: Buffer.from([0, 1, 2]),
      at: 3,
      width: 2,
      add: 8,
      end: Buffer.from([0xff, 0xfe, 0xfc]),
    }),
  },
  decode,
} satisfies Protocol

const TEXT = /^YX(\d{15})\|([^|]{1,10})\|\d\|\{F(\d\d)#(.{0,4000})\}/s

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(3)
  const match = TEXT.exec(r.ascii(r.u16()))
  if (!match) throw new DecodeError('unsupported', 'the frame is not a message of a wristband')
  const [, device, version, kind, content] = match
  const answer = (words: string) => wrap(`YX${device}|${version}|0|{F${kind}#${words}}\r\n`)
  if (kind === '01') return { device, none: 'heartbeat', said: chargeIn(content), reply: answer('1') }
  if (kind === '02') return { device, fixes: [] }
  if (kind === '03') return { device, none: 'wifi' }
  if (kind === '04') return { device, none: 'cells' }
  return kind === '64' ? { device, none: 'status', reply: answer(content) } : { device }
}

const chargeIn = (content: string) => said({ battery_percent: optionalNumber(content.split(',', 1)[0]) })

function wrap(text: string): Buffer {
  return new ByteWriter().hex('000102').u16(text.length).ascii(text).hex('fffefc').toBuffer()
}
