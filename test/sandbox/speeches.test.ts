import { expect, it } from 'vitest'
import { cut, type Fix } from '../../protocols/kit/index.ts'
import { createFleet } from '../../src/sandbox/fleet.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { acknowledgesFixes } from '../rig/vans.ts'
import { answersOf, Conversation, streamSpeech } from '../support/speeches.ts'

const ID = '356307042441013'
const NOW = Date.UTC(2026, 10, 20, 12, 0, 0)
const FIXES: readonly Fix[] = [
  [52.520008, 13.404954],
  [-22.906847, -43.172897],
].map(([latitude, longitude], index) => ({
  time: NOW + index * 1000,
  latitude,
  longitude,
  valid: true,
  altitude: 34 + index,
  speed: (36 + index) / 3.6,
  heading: index * 213,
  accuracy: 5,
  hdop: 0.9,
  satellites: 11,
}))

/** Text that trackers write for the second fix, with the following fields. */
const LINES = [
  ['h02', `*HQ,${ID},V1,120001,A,2254.4108,S,04310.3738,W,19.98,213,201126,FFFFFBFF#`],
  [
    'gl200',
    `+RESP:GTFRI,1A0900,${ID},,0,0,1,1,37.0,213,35.0,-43.172897,-22.906847,20261120120001,0262,0001,28f1,71c5,,85,20261120120001,0001$`,
  ],
  ['gps103', `imei:${ID},tracker,261120120001,,F,120001.000,A,2254.4108,S,04310.3738,W,19.98,213.0;${ID};`],
  ['tk103', `(${ID}BR00261120A2254.4108S04310.3738W037.0120001213.0001000000L00000000)(${ID}BP00${ID}HSO)`],
  [
    'watch',
    `[3G*${ID}*006D*UD,201126,120001,A,22.906847,S,43.172897,W,37.00,213.0,35,11,100,85,1200,0,00000000,1,0,262,1,10481,29125,100][3G*${ID}*000C*LK,1200,0,85]`,
  ],
  ['t55', '$GPRMC,120001.000,A,2254.4108,S,04310.3738,W,19.98,213.00,201126,,,A*59\r\n'],
  ['jt600', `(${ID},U01,201126,120001,A,22.906847,S,43.172897,W,23.0,213,11,88%,00000000000000,262,1,20,0,0,0)`],
  ['totem', `$$0108AA${ID}|180040002611201200011385000028F171C5112021303700.900000002254.4108S04310.3738W00015E`],
  ['laipac', `$AVRMC,${ID},120001,a,2254.4108,S,04310.3738,W,19.98,213.00,201126,0,1385,0,1,0,0*29\r\n`],
  ['upro', `*HQ201${ID},BA&A1200012254410804310373801021201126&B0100000000&F0200&G000350&R2411#`],
  [
    'suntech',
    `ST300STT;${ID};01;010;20261120;12:00:01;28f1c;-22.906847;-43.172897;037.000;213.00;11;1;0;13.85;100000;2;0001\r`,
  ],
  [
    'megastek',
    `$MGV002,${ID},Van,R,201126,120001,A,2254.4108,S,04310.3738,W,00,11,00,0.90,19.98,213.00,35.0,0.0,262,01,28F1,71C5,25,0000,0000,0,0,0,28.5,28.3,,,100,Timer;!`,
  ],
  [
    'xexun',
    `261120120001,+491700000000,GPRMC,120001.000,A,2254.4108,S,04310.3738,W,19.98,213.00,201126,,,A*59,F,, imei:${ID},11,35.0,F:4.15V,0,139,2689,262,01,28F1,71C5\r\n`,
  ],
] as const

const STREAMS = speeches.flatMap((speech) => (speech.transport === 'tcp' ? [[speech.name, speech] as const] : []))

it('simulated vans speak 25 protocols', () => {
  expect(new Set(speeches.map(({ protocol }) => protocol)).size).toBe(25)
  expect(new Set(speeches.map(({ name }) => name)).size).toBe(speeches.length)
})

it.each(STREAMS.filter(([, { login }]) => login))('%s accepts the answer of the decoder to its login', (_, speech) => {
  const [{ id }] = createFleet(1, [speech])
  const login = speech.login?.(id)
  const messages = new Conversation(speech, NOW).hear(login?.bytes as Buffer)
  expect(messages[0].device).toBe(id)
  const verdicts = login?.accepted && answersOf(speech, messages).map(login.accepted)
  expect(verdicts?.at(-1)).toBe(speech.name === 't55' ? undefined : true)
})

it.each(STREAMS.filter(([, speech]) => acknowledgesFixes(speech)))(
  '%s recognises an answer that is cut anywhere',
  (_, speech) => {
    const [answer] = answered(speech.name, 1)
    for (let length = 0; length < answer.length; length++)
      expect(cut(answer.subarray(0, length), speech.answers, undefined).frames).toEqual([])
    const { frames, rest } = cut(Buffer.concat([answer, answer]), speech.answers, undefined)
    expect(frames).toEqual([answer, answer])
    expect(rest.length).toBe(0)
  },
)

it.each(['jt808', 'gl200', 'egts', 'eelink', 'totem', 'gt06', 'meitrack'])(
  '%s ignores an answer to another packet',
  (name) => {
    const speech = streamSpeech(name)
    const [{ id }] = createFleet(1, [speech])
    const other = speech.packet(FIXES.slice(0, 1), { id, serial: 2 })
    expect(answered(name, 1).map((answer) => other.accepted?.(answer))).not.toContain(true)
    expect(answered(name, 2).map((answer) => other.accepted?.(answer))).toContain(true)
  },
)

it('teltonika-udp accepts the answer to its datagram, and no other', () => {
  const speech = speeches.find((each) => each.name === 'teltonika-udp')
  if (speech?.transport !== 'udp') throw new Error('no such speech')
  const [first, second] = [1, 2].map((serial) => speech.packet(FIXES, { id: ID, serial }))
  const [reply] = answersOf(speech, new Conversation(speech, NOW).hear(first.bytes))
  expect(first.accepted?.(reply)).toBe(true)
  expect(second.accepted?.(reply)).toBeUndefined()
})

it('teltonika repeats a packet if not all of its records were accepted', () => {
  const packet = streamSpeech('teltonika').packet(FIXES, { id: ID, serial: 1 })
  expect(packet.accepted?.(Buffer.of(0, 0, 0, FIXES.length - 1))).toBe(false)
})

it('wialon recognises a refusal', () => {
  const packet = streamSpeech('wialon').packet(FIXES.slice(0, 1), { id: ID, serial: 1 })
  expect(packet.accepted?.(Buffer.from('#AD#-1\r\n'))).toBe(false)
  expect(packet.accepted?.(Buffer.from('#AP#\r\n'))).toBeUndefined()
  expect(streamSpeech('wialon').login?.(ID).accepted?.(Buffer.from('#AL#0\r\n'))).toBe(false)
})

it('egts and jt808 recognise a refusal', () => {
  const egts = streamSpeech('egts').packet(FIXES, { id: ID, serial: 1 })
  const [response] = answered('egts', 1)
  response[26] = 132
  expect(egts.accepted?.(response)).toBe(false)
  const [{ id }] = createFleet(1, [streamSpeech('jt808')])
  const jt808 = streamSpeech('jt808').packet(FIXES.slice(0, 1), { id, serial: 1 })
  const [answer] = answered('jt808', 1)
  answer[answer.length - 3] = 1
  expect(jt808.accepted?.(answer)).toBe(false)
})

it('gt06 counts its locations as delivered only when the heartbeat behind them is answered', () => {
  const packet = streamSpeech('gt06').packet(FIXES, { id: ID, serial: 1 })
  const heartbeat = new Conversation(streamSpeech('gt06'), NOW).hear(packet.bytes).at(-1)
  expect(packet.accepted?.(heartbeat?.reply as Buffer)).toBe(true)
  expect(packet.accepted?.(answered('gt06', 2).at(-1) as Buffer)).toBeUndefined()
})

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

it.each(LINES)('%s writes a line', (name, line) => {
  const packet = streamSpeech(name).packet([FIXES[1]], { id: ID, serial: 1 })
  expect(packet.bytes.toString('latin1')).toBe(line)
})

/** Returns the answers to a packet with one fix. */
function answered(name: string, serial: number): Buffer[] {
  const speech = streamSpeech(name)
  const [{ id }] = createFleet(1, [speech])
  const conversation = new Conversation(speech, NOW)
  if (speech.login) conversation.hear(speech.login(id).bytes)
  return answersOf(speech, conversation.hear(speech.packet(FIXES.slice(0, 1), { id, serial }).bytes))
}
