import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import {
  cut,
  decodeFrame,
  type Fix,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'
import { type Packet, type Speech, speeches } from '../../src/simulate/speak/index.ts'

const PROTOCOLS = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))

const ID = '356307042441013'
const NOW = Date.UTC(2026, 10, 20, 12, 0, 0)

/** In all four quarters of the globe, and a minute that must not become 60. */
const FIXES: readonly Fix[] = (
  [
    [52.520008, 13.404954],
    [-33.868819, 151.209296],
    [40.712776, -74.005974],
    [-22.906847, -43.172897],
    [-0.000004, 0.000004],
    [50.999999, -0.999999],
  ] as const
).map(([latitude, longitude], index) => ({
  time: NOW + index * 1000,
  latitude,
  longitude,
  valid: true,
  altitude: 34 + index,
  speed: (36 + index) / 3.6,
  heading: (index * 71) % 360,
  accuracy: 5,
  hdop: 0.9,
  satellites: 11,
}))

/** What a wire does not hold of a fix. */
const ABSENT: Record<string, readonly (keyof Fix)[]> = {
  teltonika: ['accuracy'],
  'teltonika-8e': ['accuracy'],
  'teltonika-udp': ['accuracy'],
  gt06: ['accuracy', 'altitude', 'hdop'],
  h02: ['accuracy', 'altitude', 'hdop', 'satellites'],
  wialon: ['accuracy'],
  osmand: ['accuracy', 'satellites'],
  owntracks: ['hdop', 'satellites'],
  fix: [],
}

describe.each(speeches.map((speech) => [speech.name, speech] as const))('%s', (name, speech) => {
  it.each(FIXES)('says a fix at $latitude $longitude so that the decoder reads it', (fix) => {
    expectSame(heard(speech, [fix]), [fix], name)
  })

  it('says as many fixes in one packet as it may', () => {
    const fixes = Array.from({ length: speech.maxFixes }, (_, index) => ({ ...FIXES[0], time: NOW + index * 1000 }))
    expectSame(heard(speech, fixes), fixes, name)
  })
})

describe('answers', () => {
  it.each(['teltonika', 'teltonika-8e', 'gt06', 'wialon'])('%s takes the decoder’s answer to its login', (name) => {
    const { login } = streamSpeech(name)
    const packet = login?.(ID) as Packet
    const [message] = read(streamSpeech(name), [packet.bytes])
    expect(message.device).toBe(ID)
    expect(packet.accepted(message.reply as Buffer)).toBe(true)
  })

  it.each(['teltonika', 'teltonika-8e', 'gt06', 'wialon', 'h02'])('%s takes the answer to its packet', (name) => {
    const speech = streamSpeech(name)
    const packet = speech.packet(FIXES.slice(0, speech.maxFixes), { id: ID, serial: 1 })
    const replies = Buffer.concat(read(speech, [packet.bytes]).flatMap(({ reply }) => repliesOf(reply)))
    const { frames, rest } = cut(replies, speech.answers, undefined)
    expect(rest.length).toBe(0)
    expect(frames.map(packet.accepted).findLast((verdict) => verdict !== undefined)).toBe(true)
  })

  it('teltonika-udp takes the answer to its datagram, and none to another', () => {
    const speech = speeches.find((each) => each.name === 'teltonika-udp')
    if (speech?.transport !== 'udp') throw new Error('no such speech')
    const [first, second] = [1, 2].map((serial) => speech.packet(FIXES, { id: ID, serial }))
    const reply = read(speech, [first.bytes])[0].reply as Buffer
    expect(first.accepted(reply)).toBe(true)
    expect(second.accepted(reply)).toBeUndefined()
  })

  it('teltonika sends a packet again of which not all records were accepted', () => {
    const packet = streamSpeech('teltonika').packet(FIXES, { id: ID, serial: 1 })
    expect(packet.accepted(Buffer.of(0, 0, 0, FIXES.length - 1))).toBe(false)
  })

  it('wialon knows a refusal', () => {
    const packet = streamSpeech('wialon').packet(FIXES.slice(0, 1), { id: ID, serial: 1 })
    expect(packet.accepted(Buffer.from('#AD#-1\r\n'))).toBe(false)
    expect(packet.accepted(Buffer.from('#AP#\r\n'))).toBeUndefined()
    expect(streamSpeech('wialon').login?.(ID).accepted(Buffer.from('#AL#0\r\n'))).toBe(false)
  })

  it('gt06 counts its locations as arrived when the heartbeat behind them is answered, and not before', () => {
    const packet = streamSpeech('gt06').packet(FIXES, { id: ID, serial: 1 })
    const replies = read(streamSpeech('gt06'), [packet.bytes]).map(({ reply }) => reply as Buffer)
    expect(replies.map(packet.accepted)).toEqual([...FIXES.map(() => undefined), true])
  })
})

describe('bytes as the specifications print them', () => {
  it('teltonika logs in with its IMEI in ASCII behind two bytes of length', () => {
    const login = streamSpeech('teltonika').login?.('356307042441013')
    expect(login?.bytes.toString('hex')).toBe('000f333536333037303432343431303133')
  })

  it('gt06 logs in with its IMEI in packed decimals', () => {
    expect(streamSpeech('gt06').login?.('123456789012345').bytes.toString('hex')).toBe(
      '78780d01012345678901234500018cdd0d0a',
    )
  })

  it('wialon writes records and a checksum', () => {
    const packet = streamSpeech('wialon').packet([FIXES[0]], { id: ID, serial: 1 })
    expect(packet.bytes.toString()).toMatch(
      /^#D#201126;120000;5231\.2005;N;01324\.2972;E;36;0;34;11;0\.9;1;0;;NA;pwr_ext:2:13\.85;[0-9A-F]{4}\r\n$/,
    )
  })

  it('h02 writes a V1', () => {
    const packet = streamSpeech('h02').packet([FIXES[3]], { id: ID, serial: 1 })
    expect(packet.bytes.toString()).toBe(`*HQ,${ID},V1,120003,A,2254.4108,S,04310.3738,W,21.06,213,201126,FFFFFBFF#`)
  })
})

function streamSpeech(name: string) {
  const speech = speeches.find((each) => each.name === name)
  if (speech?.transport !== 'tcp') throw new Error(`${name} is not spoken over TCP`)
  return speech
}

/** The fixes that the protocol's decoder makes of what the speech says. */
function heard(speech: Speech, fixes: readonly Fix[]): Fix[] {
  return read(speech, said(speech, fixes)).flatMap((message) => message.fixes ?? [])
}

function said(speech: Speech, fixes: readonly Fix[]): (Buffer | HttpRequest)[] {
  if (speech.transport === 'http')
    return [{ method: 'GET', uri: speech.path(fixes, ID), headers: {}, body: Buffer.alloc(0) }]
  if (speech.transport === 'mqtt') return [Buffer.from(speech.payload(fixes))]
  const packet = speech.packet(fixes, { id: ID, serial: 1 }).bytes
  return speech.transport === 'tcp' && speech.login ? [speech.login(ID).bytes, packet] : [packet]
}

/** The messages of bytes that arrive in one conversation; checksums are verified. */
function read(speech: Speech, arrivals: readonly (Buffer | HttpRequest)[]): Message[] {
  const protocol = protocolOf(speech)
  const frame = speech.transport === 'tcp' ? protocol.tcp?.frame : undefined
  const conversation = session(speech.transport)
  return arrivals.flatMap((bytes) => {
    if (!frame || !Buffer.isBuffer(bytes)) return [decodeFrame(protocol, bytes, conversation)]
    const { frames, rest, noise } = cut(bytes, frame, conversation)
    expect([rest.length, noise]).toEqual([0, 0])
    return frames.map((each) => decodeFrame(protocol, each, conversation))
  })
}

function protocolOf(speech: Speech): Protocol {
  const protocol = PROTOCOLS.get(speech.protocol)
  if (!protocol) throw new Error(`no protocol ${speech.protocol}`)
  return protocol
}

function session(transport: Transport): Session {
  return { settings: {}, transport, now: NOW, lenient: false }
}

function expectSame(actual: readonly Fix[], expected: readonly Fix[], name: string): void {
  expect(actual).toHaveLength(expected.length)
  for (const [index, fix] of expected.entries()) {
    const { latitude, longitude, speed, ...rest } = actual[index]
    expect(Math.abs(latitude - fix.latitude)).toBeLessThan(0.9e-6)
    expect(Math.abs(longitude - fix.longitude)).toBeLessThan(0.9e-6)
    expect(speed).toBeCloseTo(fix.speed as number, 2)
    const { latitude: _a, longitude: _o, speed: _s, ...others } = fix
    const carried = Object.entries(others).filter(([key]) => !ABSENT[name].includes(key as keyof Fix))
    expect(rest).toEqual(Object.fromEntries(carried))
  }
}
