import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { cut, DecodeError, decodeFrame, eachReadable, type Protocol } from '../../protocols/kit/index.ts'
import { blownUp } from '../support/blow-up.ts'
import { cpuOf, MOST_CPU_MS } from '../support/cost.ts'
import { type KnownFrame, ownFrames } from '../support/known-frames.ts'
import { casesOf, many } from '../support/protocol-cases.ts'
import { damageable, newSession, randomOf, reasonOf } from '../support/rough.ts'

/** Number of frames of each protocol that are blown up to 64 KB. */
const BLOWN_UP = 6

for (const protocol of await loadProtocols()) {
  const { costly, frames } = await casesOf(protocol.name)
  it.each(Object.entries(costly))(
    `${protocol.name} decodes 64 KB of hostile content in little CPU time: %s`,
    (_, costlyFrame) => {
      const frame = typeof costlyFrame === 'string' ? Buffer.from(costlyFrame) : costlyFrame
      expect(cpuOf(() => reasonOf(() => decodeFrame(protocol, frame, newSession(true))))).toBeLessThan(MOST_CPU_MS)
    },
  )
  const own = frames.flatMap((conversation) => ownFrames(protocol, conversation))
  it(`${protocol.name} decodes and cuts its own frames blown up to 64 KB in little CPU time`, () =>
    blowUps(protocol, own))
  if (protocol.tcp)
    it(`${protocol.name} cuts a stream of 64 KB of one repeated text in little CPU time`, () => streams(protocol))
}

function blowUps(protocol: Protocol, own: readonly KnownFrame[]): void {
  const random = randomOf(own.length)
  for (let i = 0; i < BLOWN_UP; i++) {
    const { frame, session } = own[i % own.length]
    const { bytes, rebuilt } = damageable(frame)
    const large = blownUp(bytes, random)
    const cost = cpuOf(() => {
      reasonOf(() => decodeFrame(protocol, rebuilt(large), Object.assign(session(), { lenient: true })))
      if (protocol.tcp && Buffer.isBuffer(frame)) cut(large, protocol.tcp.frame, session())
    })
    expect(cost, `${large.subarray(0, 500).toString('hex')} …`).toBeLessThan(MOST_CPU_MS)
  }
}

function streams({ tcp }: Protocol): void {
  for (const text of ['\n', '*', '$', '\xff\x00\x00', 'x']) {
    const stream = Buffer.from(many(text), 'latin1')
    expect(
      cpuOf(() => tcp && cut(stream, tcp.frame, newSession())),
      JSON.stringify(text),
    ).toBeLessThan(MOST_CPU_MS)
  }
}

it('a DecodeError has no stack trace, and other errors keep theirs', () => {
  const error = new DecodeError('malformed', 'it is not JSON')
  expect(error.stack).toBe('DecodeError: the frame is malformed: it is not JSON')
  expect(new Error('other').stack).toContain('cost.test.ts')
})

it('eachReadable leaves out the entries that cannot be read, and reports their positions', () => {
  expect(eachReadable([1, -1, 2, -2, 3], read)).toEqual({ good: [1, 2, 3], unreadable: [1, 3] })
  expect(eachReadable([1, 2], read)).toEqual({ good: [1, 2], unreadable: undefined })
  expect(eachReadable([], read)).toEqual({ good: [], unreadable: undefined })
})

it('eachReadable throws the error of the first entry if no entry can be read', () => {
  expect(() => eachReadable([-1, -2], read)).toThrow('entry -1')
})

it('eachReadable stops at the 100th unreadable entry, keeps the good ones before it and reports the rest', () => {
  expect(eachReadable([1, ...bad(99), 2, 3], read)).toEqual({ good: [1, 2, 3], unreadable: positions(1, 100) })
  expect(eachReadable([1, ...bad(100), 2, 3], read)).toEqual({ good: [1], unreadable: positions(1, 103) })
  let calls = 0
  const counted = (entry: number) => {
    calls++
    return read(entry)
  }
  expect(() => eachReadable(bad(50_000), counted)).toThrow('entry -1')
  expect(calls).toBe(100)
})

/** Reads an entry, but refuses a negative one. */
function read(entry: number): number {
  if (entry < 0) throw new DecodeError('malformed', `entry ${entry}`)
  return entry
}

const positions = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

const bad = (count: number) => Array.from({ length: count }, () => -1)
