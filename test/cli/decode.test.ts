import { Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { type Protocol, type Session, unescape } from '../../protocols/kit/index.ts'
import { decodeLines } from '../../src/cli/decode.ts'
import {
  type DecodeInput,
  type DecodeOptions,
  type DecodeOutput,
  decodeInput as decodeInputOf,
} from '../../src/cli/decode-input.ts'
import jt808 from '../protocols/jt808.ts'
import { waybridge } from '../support/cli.ts'
import { avlLogin, avlPacket, bytes, gt06Frame, gt06Gps } from '../support/encode.ts'

const PROTOCOLS = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))

const TIME = Date.UTC(2026, 10, 20, 6, 30, 15)
const RECORD = { time: TIME, latitude: 54.5, longitude: 25.25, altitude: 110, angle: 90, satellites: 9, speed: 36 }
const PACKET = avlPacket(0x08, [RECORD])
const JT808_CODES = new Map([
  [1, 0x7d],
  [2, 0x7e],
])
const FIX = {
  time: '2026-11-20T06:30:15.000Z',
  valid: true,
  lat: 54.5,
  lon: 25.25,
  altitude: 110,
  speed: 10,
  heading: 90,
  satellites: 9,
}

it('decode prints the fixes and replies of a frame', () => {
  expect(decodeInput(teltonika(PACKET))).toEqual({ fixes: [FIX], replies: [{ hex: '00000001' }] })
})

it('decode reads bytes as a stream: frames, noise, and the rest as one frame', () => {
  const stream = Buffer.concat([avlLogin('352093086403655'), bytes('0102'), PACKET, PACKET])
  expect(decodeInput({ id: 'x', ...teltonika(stream) })).toEqual({
    id: 'x',
    device: '352093086403655',
    fixes: [FIX, FIX],
    replies: [{ hex: '01' }, { hex: '00000001' }, { hex: '00000001' }],
  })
  expect(decodeInput(teltonika(Buffer.concat([PACKET, PACKET.subarray(0, 20)])))).toEqual({
    fixes: [],
    replies: [],
    error: expect.stringMatching(/./),
  })
})

it('decode adds the escapes to frames without them, as the vectors have them', () => {
  const frames = jt808.frames.flatMap((each) => each.frames.map(({ frame }) => frame)).filter(Buffer.isBuffer)
  const escaped = frames.filter((frame) => frame.includes(Buffer.of(0x7d, 2)))
  expect(escaped.length).toBeGreaterThan(0)
  for (const frame of escaped) {
    expect(jt808Said(unescape(frame, 0x7d, JT808_CODES))).toEqual(jt808Said(frame))
    expect(jt808Said(Buffer.concat([frame, frame])).replies).toHaveLength(2)
  }
})

it('decode takes the given device id if the frame has none', () => {
  expect(decodeInput({ ...teltonika(PACKET), deviceId: '42' }).device).toBe('42')
  expect(decodeInput({ ...teltonika(avlLogin('7')), deviceId: '42' }).device).toBe('7')
})

it('decode refuses a wrong checksum, unless it is lenient', () => {
  const damaged = Buffer.from(PACKET)
  damaged[damaged.length - 1] ^= 1
  expect(decodeInput(teltonika(damaged)).error).toBe('the checksum does not match')
  expect(decodeInput(teltonika(damaged), { lenient: true }).fixes).toEqual([FIX])
})

it('decode passes the model and the other settings to the decoder', () => {
  const frame = gt06Frame(0x11, Buffer.concat([bytes('01 0866703066502297 1a0b14061e10'), gps()]))
  const input = { protocol: 'gt06', input: { hex: frame.toString('hex') } }
  expect(decodeInput({ ...input, settings: { modelOverride: 'XT40' } }).fixes[0].lat).toBe(54.5)
  expect(decodeInput(input).fixes).toEqual([])
})

it('decode remembers the device and the login of a session', () => {
  const sessions = new Map<string, Session>()
  const login = gt06Frame(0x01, bytes('0356307042441013 100b 3200'))
  const location = gt06Frame(0x12, gps())
  const line = (frame: Buffer, session?: string) =>
    decodeInput({ protocol: 'gt06', input: { hex: frame.toString('hex') }, session }, { sessions })
  expect(line(login, 'a').device).toBe('356307042441013')
  expect(line(location, 'a')).toMatchObject({
    device: '356307042441013',
    fixes: [{ time: '2026-11-19T22:30:15.000Z' }],
  })
  expect(line(location, 'b')).toMatchObject({ fixes: [{ time: '2026-11-20T06:30:15.000Z' }] })
  expect(line(location).device).toBeUndefined()
})

it('decode leaves out a time beyond the calendar', () => {
  const packet = avlPacket(0x08, [{ ...RECORD, time: 9e15 }])
  expect(decodeInput(teltonika(packet)).fixes[0].time).toBeUndefined()
})

it.each<[string, DecodeInput, string]>([
  ['odd hex', { protocol: 'gt06', input: { hex: '787' } }, 'the hex is not a sequence of whole bytes'],
  ['text as hex', { protocol: 'gt06', input: { hex: 'zz' } }, 'the hex is not a sequence of whole bytes'],
  ['noise alone', { protocol: 'gt06', input: { hex: '0102' } }, 'there is no frame of gt06 in these bytes'],
  ['nothing', { protocol: 'gt06', input: { text: '' } }, 'there is no frame of gt06 in these bytes'],
  [
    'HTTP',
    { protocol: 'gt06', input: { http: 'GET', uri: '/' } },
    'this kind of frame is not understood: gt06 is not spoken over HTTP',
  ],
])('decode prints an error for %s', (_, input, error) => {
  expect(decodeInput({ id: 3, ...input })).toEqual({ id: 3, fixes: [], replies: [], error })
})

it('decode reads the body of a request as text', () => {
  const body = '{"_type":"location","tst":1714558530,"lat":52.525,"lon":13.41,"topic":"owntracks/jane/phone"}'
  const output = decodeInput({ protocol: 'owntracks', input: { http: 'POST', uri: '/', body } })
  expect(output).toMatchObject({ device: 'jane', fixes: [{ lat: 52.525, lon: 13.41 }] })
})

it('decode says that a frame is encrypted', () => {
  const body = JSON.stringify({ _type: 'encrypted', data: Buffer.alloc(64).toString('base64') })
  const { error } = decodeInput({ protocol: 'owntracks', input: { http: 'POST', uri: '/pub?u=jane', body } })
  expect(error).toContain('it is encrypted with the secret of its device')
})

it('decode reads hex with blanks', () => {
  expect(decodeInput({ protocol: 'teltonika', input: { hex: 'FF ' } })).toEqual({ fixes: [], replies: [] })
})

it('decode prints one line for each input line in order, even for malformed ones', async () => {
  const lines = [
    JSON.stringify({ id: 'a', ...teltonika(PACKET), session: 's' }),
    '',
    'no JSON',
    '[]',
    '{"id":"b","protocol":"gt06"}',
    '{"id":"c","protocol":7,"input":{"hex":""}}',
    '{"id":"d","protocol":"gt06","input":{"type":"mqtt"}}',
    '{"id":"f","protocol":"x","input":{"hex":"00"}}',
    JSON.stringify({ id: 'e', ...teltonika(PACKET) }),
  ]
  const shape = 'protocol, session and deviceId must be text, input an object'
  expect(await decoded(Readable.from([lines.join('\n')]))).toEqual([
    { id: 'a', fixes: [FIX], replies: [{ hex: '00000001' }] },
    { fixes: [], replies: [], error: 'the line is not a JSON object' },
    { fixes: [], replies: [], error: 'the line is not a JSON object' },
    { fixes: [], replies: [], error: 'the line is not a JSON object' },
    { id: 'b', fixes: [], replies: [], error: shape },
    { id: 'c', fixes: [], replies: [], error: shape },
    { id: 'd', fixes: [], replies: [], error: 'the input must have one of hex, text and http' },
    { id: 'f', fixes: [], replies: [], error: 'there is no protocol "x": see waybridge protocols' },
    { id: 'e', fixes: [FIX], replies: [{ hex: '00000001' }] },
  ])
})

it('decode keeps sessions from line to line', async () => {
  const login = { ...teltonika(avlLogin('352093086403655')), session: 's' }
  const lines = [login, { ...teltonika(PACKET), session: 's' }].map((line) => `${JSON.stringify(line)}\r\n`)
  expect((await decoded(Readable.from(lines))).map(({ device }) => device)).toEqual([
    '352093086403655',
    '352093086403655',
  ])
})

it('decode reads lines that arrive in pieces, and ends them only at LF', async () => {
  const line = Buffer.from(`${JSON.stringify({ id: 'é\u2028', protocol: 'gt06', input: { hex: 'é' } })}\n`)
  const bytewise = Readable.from(Array.from(line, (byte) => Buffer.of(byte)))
  expect(await decoded(bytewise)).toEqual([
    { id: 'é\u2028', fixes: [], replies: [], error: 'the hex is not a sequence of whole bytes' },
  ])
})

it('decode reads no faster than its output is read', async () => {
  let read = 0
  const input = Readable.from(
    (function* () {
      for (; read < 10_000; read++) yield `${JSON.stringify(teltonika(PACKET))}\n`
    })(),
  )
  const written: (() => void)[] = []
  const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => written.push(done) })
  const end = decodeLines(input, output)
  await expect.poll(() => written.length).toBe(1)
  const before = read
  await new Promise((resolve) => setImmediate(resolve))
  expect(read).toBe(before)
  expect(read).toBeLessThan(1000)
  output.destroy(new Error('gone'))
  await expect(end).rejects.toThrow('gone')
})

function decodeInput(line: DecodeInput, options?: DecodeOptions): DecodeOutput {
  return decodeInputOf(PROTOCOLS.get(line.protocol) as Protocol, line, options)
}

function teltonika(frame: Buffer): DecodeInput {
  return { protocol: 'teltonika', input: { hex: frame.toString('hex') } }
}

function gps(): Buffer {
  return gt06Gps({ date: '261120063015', latitude: 54.5, longitude: 25.25 })
}

function jt808Said(frame: Buffer) {
  return decodeInput({ protocol: 'jt808', input: { hex: frame.toString('hex') } }, { now: () => TIME })
}

async function decoded(input: Readable, options?: DecodeOptions): Promise<Record<string, unknown>[]> {
  const chunks: Buffer[] = []
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  await decodeLines(input, output, options)
  const lines = Buffer.concat(chunks).toString().split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line): Record<string, unknown> => JSON.parse(line))
}

it('decode without a protocol prints what each fitting protocol reads from a frame, most likely first', async () => {
  const { out, code } = await waybridge(['decode', '--hex', PACKET.toString('hex')])
  const [first] = out.split('\n').map((line): unknown => (line === '' ? undefined : JSON.parse(line)))
  expect([code, first]).toMatchObject([0, { protocol: 'teltonika', fixes: [FIX] }])
})

it('decode without a protocol says that none fits', async () => {
  const { errors, code } = await waybridge(['decode', '--text', '?'])
  expect(code).not.toBe(0)
  expect(errors).toMatch(/none of \d+ protocols understands these bytes/)
})
