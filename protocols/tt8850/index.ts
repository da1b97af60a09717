/*
 * SkyPatrol TT8850 and other trackers on Queclink's early @Track binary-text protocol. No specification is known: inferred from
 * frames. TCP and UDP, text behind two bytes; a datagram may be binary, big-endian:
 *
 *   ll,m,x,GTEEE,v,I,name,i,t,k,P,S,C,H,O,Y,YYYYMMDDhhmmss,…$
 *   0005 mmmm xx ee I{15} tt kk PP SSSS CCCC OOOOOOOO YYYYYYYY YYMMDDhhmmss …      of m 0003; other m are kept
 *
 *   E  report     I  IMEI     P  HDOP, 0: none     S  km/h     C  degrees     H  metres     Y, O  degrees, 1e-6 if binary
 *   m  hex, which fields follow                      S, C  of a binary report are not read: their units are not known
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  bytesYmd,
  DecodeError,
  dop,
  endsWith,
  type Message,
  type Protocol,
  type Session,
  textProtocol,
} from '../kit/index.ts'

const HEAD = '{any:3},GT{report},{any},{imei},'

const text = textProtocol({
  name: 'tt8850',
  devices: 'SkyPatrol and Truetrack TT8850',
  port: 5079,
  frame: endsWith('$'),
  ends: '$',
  fields: { report: { like: '[A-Z]{3}' } },
  lines: [
    {
      like: `${HEAD}{any:4},{hdop},{speedKmh},{course},{altitude},{lon},{lat},{yyyymmdd}{hhmmss}[,{any}]`,
    },
    { like: `${HEAD}{any:4},{any},,,,{any},{any},,{any}`, none: 'no fix' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})

export default { ...text, udp: { port: 5079 }, decode } satisfies Protocol

const BINARY = Buffer.of(0, 5)
/** The fields that the only known binary report has. */
const SPEED_AND_COURSE = 0x0003

function decode(frame: Buffer, session: Session): Message {
  if (!frame.subarray(0, 2).equals(BINARY)) return text.decode(frame, session)
  const r = new ByteReader(frame).skip(2)
  const fields = r.u16()
  const device = r.skip(2).ascii(15)
  if (!/^\d{15}$/.test(device)) throw new DecodeError('unsupported', 'the frame has no IMEI')
  if (fields !== SPEED_AND_COURSE) return { device, fixes: [] }
  const hdop = dop(r.skip(2).u8())
  const [longitude, latitude] = [r.skip(4).i32() / 1e6, r.i32() / 1e6]
  return { device, fixes: [{ time: bytesYmd(r), latitude, longitude, valid: true, hdop }] }
}
