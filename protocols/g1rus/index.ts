/*
 * Proma Sat 1000 (G1 of Russia). No specification is known: inferred from one frame without a position, and from the binary
 * frames of Gosafe, which are built in the same way. Big-endian. TCP.
 *
 *   F8 46 04 IIIIIIIIIIIIII LLLL NN record… KKKK F8        1B escapes
 *   record   TTTTTTTT BBBB block…                          each block l x{l}; bit n of B: block n is there
 *   block 1  l MMMM F AAAAAAAA OOOOOOOO SSSS CCCC HHHH PPPP VVVV        position
 *
 *   I  IMEI, as a number     N  records              A, O  latitude, longitude, 1e-6 degrees     H  metres
 *   L  from N to before K    T  seconds since 2000   S  km/h     C  degrees     F  satellites    P  HDOP, 0.01
 *   M  the fields of the position, by bits: F, A O, S, C, H, P, V; with other ones it is not read
 *   K  CRC-16/XMODEM of what is between F8 and it
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
  enveloped,
  escaped,
  type Message,
  maskedRecords,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

const escaping = escaped({
  flag: 0xf8,
  escape: 0x1b,
  codes: new Map([
    [0x00, 0x1b],
    [0xe3, 0xf8],
  ]),
})

export default {
  name: 'g1rus',
  devices: 'Proma Sat 1000',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [1, -3] },
  escaping,
  tcp: { port: 5244, frame: escaping.frame },
  decode,
} satisfies Protocol

const BATCHES = 0x46
const RECORDS = 0x04

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(escaping.content(frame), { sum: crc16Xmodem, from: 0, width: 2 }, session))
  if (r.u8() !== BATCHES) throw new DecodeError('unsupported', 'the frame does not begin with F8 46')
  const type = r.u8()
  const device = String(r.uint(3) * 2 ** 32 + r.u32()).padStart(15, '0')
  if (type !== RECORDS) return { device }
  return enveloped({ device }, () => {
    const content = r.part(r.u16())
    return maskedRecords(content, content.u8())
  })
}
