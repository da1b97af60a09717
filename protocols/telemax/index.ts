/*
 * Telemax. No specification is known: inferred from frames. Lines of hexadecimal digits:
 *
 *   % NN I… VV XX                                 login
 *   Y ???????????? NN I… ???? ???????? CC record… XX
 *
 *   EE AAAAAA OOOOOO YYMMDDhhmmss SSSS ????       one record, all but the time hexadecimal
 *
 *   N, I  digits of the id, and it     O  longitude, 1/30000 degree, 0 is 180° west
 *   C     how many records             A  latitude, the same, 0 is 180° south
 *   X     of a login XOR, of positions the sum of all characters before it
 *
 * The four bytes behind the time were always 0: speed and heading are not read. Nothing is answered.
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  line,
  type Message,
  type Protocol,
  readableFixes,
  type Session,
  sum8,
  trimEnd,
  utcYmd,
  verifiedHex,
  xor,
} from '../kit/index.ts'

export default {
  name: 'telemax',
  devices: 'Telemax trackers',
  integrity: { checksum: 'sum8, of a login XOR', covers: (frame) => [0, trimEnd(frame).length - 2] },
  tcp: { port: 5165, frame: line },
  decode,
} satisfies Protocol

const RECORD = 34

function decode(frame: Buffer, session: Session): Message {
  const text = trimEnd(frame)
  const isLogin = text[0] === 0x25
  if (!isLogin && text[0] !== 0x59) throw new DecodeError('unsupported', 'the frame begins neither with % nor with Y')
  const digits = verifiedHex(text, { sum: isLogin ? xor : sum8, from: 0, width: 2 }, session).toString('latin1')
  const [, length, rest] = (isLogin ? /^%(\d\d)(.*)/ : /^Y.{14}(\d\d)(.*)/).exec(digits) ?? []
  if (length === undefined) throw new DecodeError('truncated')
  const device = rest.slice(0, Number(length))
  if (isLogin) return { device, none: 'login' }
  const count = Number.parseInt(rest.slice(Number(length) + 12, Number(length) + 14), 16)
  const records = (rest.slice(Number(length) + 14).match(/.{34}/g) ?? []).slice(0, count)
  return enveloped({ device }, () => {
    return readableFixes(records, position, { none: 'no place' })
  })
}

function position(digits: string): Fix {
  const r = new ByteReader(Buffer.from(digits, 'hex'))
  if (r.left * 2 !== RECORD) throw new DecodeError('malformed', `"${digits}" is not hexadecimal`)
  const longitude = r.skip(1).u24() / 30_000 - 180
  const latitude = r.u24() / 30_000 - 180
  return { time: utcYmd(r.bcd(6)), latitude, longitude, valid: true }
}
