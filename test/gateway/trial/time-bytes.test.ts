import { expect, it } from 'vitest'
import gt06 from '../../../protocols/gt06/index.ts'
import { ByteWriter, crc16X25, type Message, type Protocol, repliesOf } from '../../../protocols/kit/index.ts'
import topin from '../../../protocols/topin/index.ts'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { isSameButFor } from '../../../src/gateway/trial/comparison.ts'
import { timeBytesOf } from '../../../src/gateway/trial/time-bytes.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 0, 0)
const bytesOf = ({ reply }: Message) => Buffer.concat(repliesOf(reply))

function answerOf(protocol: Protocol, frame: Buffer, now: number): Buffer {
  const session = new Conversation('tcp', '127.0.0.1:1')
  return bytesOf(protocol.decode!(frame, Object.assign(session, { now })))
}

/** GT06: a request for the time, answered with the time of the server. */
const TIME_REQUEST = new ByteWriter().u16(0x7878).u8(5).u8(0x8a).u16(1).crc16(crc16X25, 2).u16(0x0d0a).toBuffer()

const talk: Protocol = {
  name: 'talk',
  devices: 'tests',
  decode: (frame, session) => ({
    reply: Buffer.from(frame.toString() === 'time' ? new Date(session.now).toISOString() : 'ok'),
  }),
}
const of = (frame: string, at = NOW) => {
  const answered = { frame: Buffer.from(frame), session: new Conversation('tcp', '127.0.0.1:1'), protocol: talk, at }
  return (answer: string) => timeBytesOf(answered, Buffer.from(answer), bytesOf)
}

it('finds exactly the digits of an answer that change with the time', () => {
  const answer = new Date(NOW).toISOString()
  const bytes = of('time')(answer)
  expect([...(bytes ?? [])].map((index) => answer[index]).join('')).not.toMatch(/[-:TZ.]/)
  const old = Buffer.from('2026-12-31T23:59:58.000Z')
  expect(isSameButFor(Buffer.from(answer), old, bytes)).toBe(true)
  expect(isSameButFor(Buffer.from(answer), Buffer.from('2026/12-31T23:59:58.000Z'), bytes)).toBe(false)
})

it('finds no time bytes in an answer without a time', () => {
  expect(of('fix')('ok')).toEqual(new Set())
  expect(isSameButFor(Buffer.from('ok'), Buffer.from('no'), of('fix')('ok'))).toBe(false)
})

it('knows no time bytes of an answer that the protocol does not repeat', () => {
  expect(of('fix')('something else')).toBeUndefined()
})

it('leaves the session unchanged when it looks for time bytes', () => {
  const session = new Conversation('tcp', '127.0.0.1:1')
  const counting: Protocol = {
    name: 'counting',
    devices: 'tests',
    decode(_, { states }) {
      const [state] = (states?.values() ?? []) as Iterable<{ count: number }>
      if (state) state.count++
      return { reply: Buffer.from('ok') }
    },
  }
  const state = { count: 0 }
  session.states = new Map([[{}, state]])
  timeBytesOf({ frame: Buffer.from('fix'), session, protocol: counting, at: NOW }, Buffer.from('ok'), bytesOf)
  expect(state.count).toBe(0)
})

it.each([topin, gt06])('finds $name answers of two times equal but for their time bytes', (protocol) => {
  const frame = FRAMES[protocol.name]
  const [ours, old] = [NOW, NOW + 7_300_000].map((now) => answerOf(protocol, frame, now))
  expect(ours.equals(old)).toBe(false)
  const answered = { frame, session: new Conversation('tcp', '127.0.0.1:1'), protocol, at: NOW }
  const bytes = timeBytesOf(answered, ours, bytesOf)
  expect(isSameButFor(ours, old, bytes)).toBe(true)
  const other = Buffer.from(old)
  other[0] ^= 1
  expect(isSameButFor(ours, other, bytes)).toBe(false)
})

const FRAMES: Readonly<Record<string, Buffer>> = { topin: Buffer.from('787801300d0a', 'hex'), gt06: TIME_REQUEST }
