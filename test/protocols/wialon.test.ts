import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { crc16Arc, cut, type Message, type Session } from '../../protocols/kit/index.ts'
import wialon from '../../protocols/wialon/index.ts'
import { frameLength, starts } from '../../protocols/wialon/packet.ts'
import { flipped, newSession, reasonOf } from '../support/rough.ts'

const SHORT = '010524;101530;5231.5000;N;01324.6000;E;36;270;34;9'
const EXTENDED = `${SHORT};0.9;0;0;14.7,0.02;NA;count:1:5,name:3:x`
const FIX = {
  time: Date.UTC(2024, 4, 1, 10, 15, 30),
  latitude: expect.closeTo(52.525, 9),
  longitude: expect.closeTo(13.41, 9),
  valid: true,
  altitude: 34,
  speed: 10,
  heading: 270,
  satellites: 9,
}

function decode(packet: string | Buffer, session = newSession()): Message {
  return wialon.decode(typeof packet === 'string' ? Buffer.from(`${packet}\r\n`) : packet, session)
}

/** Returns a packet of version 2.x with its checksum. */
function summed(type: string, body: string, separator = ';'): string {
  const crc = crc16Arc(Buffer.from(body + separator))
    .toString(16)
    .toUpperCase()
    .padStart(4, '0')
  return `#${type}#${body}${separator}${crc}`
}

function loggedIn(): Session {
  const session = newSession()
  decode(summed('L', '2.0;861234000000001;NA'), session)
  return session
}

const codeOf = (packet: string | Buffer, session = newSession()) => reasonOf(() => decode(packet, session))

function compressed(packet: string): Buffer {
  const data = deflateSync(Buffer.from(packet))
  return Buffer.concat([Buffer.from([0xff, data.length & 255, data.length >> 8]), data])
}

const answer = (packet: string | Buffer, session?: Session) => decode(packet, session).reply?.toString()

it('reads the device and its password from a login of version 1.1', () => {
  const { reply, refusal, ...said } = decode('#L#861234000000001;Secret1')
  expect(said).toEqual({ device: '861234000000001', secret: 'Secret1', none: 'login' })
  expect([reply, refusal].map(String)).toEqual(['#AL#1\r\n', '#AL#0\r\n'])
})

it('reads a login of version 2.0, with NA for no password', () => {
  expect(decode(summed('L', '2.0;861234000000001;NA'))).toMatchObject({
    device: '861234000000001',
    secret: undefined,
  })
  expect(decode(summed('L', '2.1;861234000000001;a b')).secret).toBe('a b')
})

it('reads short data, and answers with #ASD#', () => {
  expect(decode(`#SD#${SHORT}`).fixes).toEqual([FIX])
  expect(answer(`#SD#${SHORT}`)).toBe('#ASD#1\r\n')
  expect(answer(summed('SD', SHORT), loggedIn())).toBe('#ASD#1\r\n')
})

it('reads extended data, and answers with #AD#', () => {
  expect(decode(`#D#${EXTENDED}`).fixes).toEqual([{ ...FIX, hdop: 0.9 }])
  expect(decode(summed('D', EXTENDED), loggedIn()).fixes).toEqual([{ ...FIX, hdop: 0.9 }])
  expect(answer(`#D#${EXTENDED}`)).toBe('#AD#1\r\n')
})

it('reads short and extended records of a black box, and answers with their number', () => {
  const { fixes, reply } = decode(`#B#${SHORT}|${EXTENDED.replace('101530', '101600.5')}|${SHORT}|`)
  expect(fixes?.map(({ time }) => time - FIX.time)).toEqual([0, 30_500, 0])
  expect(reply?.toString()).toBe('#AB#3\r\n')
  expect(answer(summed('B', `${SHORT}|${SHORT}`, '|'), loggedIn())).toBe('#AB#2\r\n')
  expect(answer(summed('B', `${SHORT}|${SHORT}`, ';'), loggedIn())).toBe('#AB#2\r\n')
})

it('reports an unreadable record of a black box without counting it in the answer, and refuses it if all are', () => {
  const { fixes, reply, unreadable } = decode(`#B#${SHORT}|010524;101530;abc|${SHORT}`)
  expect([fixes?.length, reply?.toString(), unreadable]).toEqual([2, '#AB#2\r\n', [1]])
  expect(codeOf('#B#010524;101530;abc|x')).toBe('malformed')
})

it('answers a ping and a message to the driver', () => {
  expect(answer('#P#')).toBe('#AP#\r\n')
  expect(answer('#M#Hello; driver')).toBe('#AM#1\r\n')
  expect(answer('#P#', loggedIn())).toBe('#AP#\r\n')
  expect(answer(summed('M', 'Hello; driver'), loggedIn())).toBe('#AM#1\r\n')
})

it('reads no position from pictures, and nothing from unknown types', () => {
  expect(decode('#I#4;0;1;010524;101530;a.jpg\r\n\0\0#\n')).toEqual({ none: 'photo' })
  for (const packet of ['#IT#010524;101530;1;2;3', '#QI#1', '#NEW#x']) expect(decode(packet)).toEqual({})
})

it('takes the device from each packet over UDP', () => {
  expect(decode(`861234000000001#SD#${SHORT}`)).toMatchObject({ device: '861234000000001', fixes: [FIX] })
  const { device, fixes } = decode(`2.0;861234000000001${summed('SD', SHORT)}`)
  expect([device, fixes]).toEqual(['861234000000001', [FIX]])
  expect(codeOf(`2.0;861234000000001#SD#${SHORT}`)).toBe('checksum')
})

it('reads a compressed packet up to a limit', () => {
  expect(decode(compressed(`${summed('D', EXTENDED)}\r\n`), loggedIn()).fixes).toEqual([{ ...FIX, hdop: 0.9 }])
  const text = randomBytes(2000).toString('hex')
  expect(answer(compressed(`#M#${text.padEnd(65_533, 'x')}`))).toBe('#AM#1\r\n')
  expect(codeOf(compressed(`#M#${text.padEnd(65_534, 'x')}`))).toBe('malformed')
  expect(codeOf(compressed(`#M#${'x'.repeat(40_000)}`))).toBe('malformed')
  expect(codeOf(Buffer.from('ff0300000102', 'hex'))).toBe('malformed')
  expect(codeOf(Buffer.from('ff0300', 'hex'))).toBe('truncated')
})

it('leaves out fields that are NA or empty', () => {
  expect(decode('#SD#010524;101530;3352.1000;S;07041.2000;W;NA;;NA;4').fixes).toEqual([
    {
      time: FIX.time,
      latitude: expect.closeTo(-(33 + 52.1 / 60), 9),
      longitude: expect.closeTo(-(70 + 41.2 / 60), 9),
      valid: true,
      satellites: 4,
    },
  ])
})

it('makes a fix invalid if it has fewer than three satellites, but not if their number is unknown', () => {
  const packets = ['NA', '', '0', '2', '3'].map((satellites) => `#SD#${SHORT.replace(/9$/, satellites)}`)
  const valid = packets.map((packet) => decode(packet).fixes?.[0].valid)
  expect(valid).toEqual([true, true, false, false, true])
})

it('takes the time of arrival if a record has no time', () => {
  const session = newSession()
  expect(decode(`#SD#${SHORT.replace('010524;101530', 'NA;NA')}`, session).fixes).toEqual([
    { ...FIX, time: session.now },
  ])
})

it('reads no fix without a place, and answers', () => {
  const { fixes, none, reply } = decode('#SD#010524;101530;NA;NA;NA;NA;0;0;0;9')
  expect([fixes, none, reply?.toString()]).toEqual([undefined, 'no place', '#ASD#1\r\n'])
})

it('reports a possible fix in a malformed record, and answers', () => {
  for (const [good, bad] of [
    ['5231.5000', '1e999'],
    ['5231.5000', '5231,5'],
    [';N;', ';X;'],
    [';E;', ';N;'],
    ['101530', '10153'],
    ['101530', '101530.x'],
  ]) {
    const { fixes, reply } = decode(`#SD#${SHORT.replace(good, bad)}`)
    expect([fixes, reply?.toString()], bad).toEqual([[], '#ASD#1\r\n'])
  }
})

it('reads a position without its course if that is no number', () => {
  const { fixes } = decode(`#SD#${SHORT.replace('270', 'NaN')}`)
  expect(fixes).toMatchObject([{ latitude: 52.525, heading: undefined }])
})

it('refuses a damaged packet', () => {
  for (const [good, bad] of [
    ['5231.5000', '5231.5.0'],
    ['010524', '320524'],
    ['101530', '241530'],
  ])
    expect(codeOf(`#SD#${SHORT.replace(good, bad)}`), bad).toBe('malformed')
  for (const packet of ['#', '#SD', 'SD#', 'GET / HTTP/1.1']) expect(codeOf(packet), packet).toBe('malformed')
  expect(codeOf('')).toBe('malformed')
})

it('detects any flipped bit in a packet of version 2.x', () => {
  const packet = Buffer.from(summed('D', EXTENDED))
  const sum = packet.toString('latin1', packet.length - 4)
  for (let bit = '#D#'.length * 8; bit < packet.length * 8; bit++) {
    const damaged = flipped(packet, bit)
    // In the checksum itself, a and A are the same digit.
    const inChecksum = bit >= (packet.length - 4) * 8
    if (inChecksum && damaged.toString('latin1', packet.length - 4).toUpperCase() === sum) continue
    expect(codeOf(damaged, loggedIn()), damaged.toString('latin1')).toBe('checksum')
  }
})

it('checks the checksum without a login if a packet has one field more than version 1.1', () => {
  expect(codeOf(summed('SD', SHORT))).toBeUndefined()
  expect(codeOf(`#SD#${SHORT};0000`)).toBe('checksum')
  expect(codeOf(`#D#${EXTENDED};0x1`)).toBe('checksum')
  expect(codeOf(`#B#${SHORT}|0000`)).toBe('checksum')
})

it('refuses a packet without a checksum after a login of version 2.x', () => {
  for (const packet of [`#SD#${SHORT}`, `#D#${EXTENDED}`, `#B#${SHORT}`, '#M#hello'])
    expect(codeOf(packet, loggedIn())).toBe('checksum')
  expect(codeOf('#L#2.0;861234000000001;NA;FFFF')).toBe('checksum')
})

it('ignores a wrong checksum if the session is lenient', () => {
  expect(decode(`#SD#${SHORT};0000`, newSession(true)).fixes).toEqual([FIX])
})

const frame = frameLength

it('cuts lines, pictures and compressed packets out of one stream', () => {
  const packets = [
    Buffer.from('#L#861234000000001;NA\r\n'),
    Buffer.from(`#I#6;0;1;010524;101530;a.jpg\r\n\r\n#P#\n`),
    Buffer.from('#T#77;3;0;ABCD\r\n\xff\xff\n', 'latin1'),
    compressed(`#SD#${SHORT}\r\n`),
    Buffer.from('#P#\n'),
  ]
  const { frames, rest, noise } = cut(
    Buffer.concat([Buffer.from('\r\n'), ...packets, Buffer.from('#P')]),
    frame,
    newSession(),
  )
  expect(frames).toEqual(packets)
  expect([rest.toString(), noise]).toEqual(['#P', 2])
})

it('recognises its streams by the login', () => {
  const begins = ['', '#', '#L', '#L#', '#L#8612', '#SD#', 'x'].map((begin) => starts(Buffer.from(begin)))
  expect(begins).toEqual(['maybe', 'maybe', 'maybe', 'yes', 'yes', 'no', 'no'])
})
