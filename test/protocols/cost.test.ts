import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { cut, DecodeError, decodeFrame, eachReadable } from '../../protocols/kit/index.ts'
import { casesOf, many } from '../support/protocol-cases.ts'
import { newSession, reasonOf } from '../support/rough.ts'

/** CPU for one of these frames, ms: what is linear takes one or two, a refusal for each entry took 150 to 950. */
const LIMIT = 50

describe('the costliest 64 KB', async () => {
  for (const protocol of await loadProtocols()) {
    const { costly } = await casesOf(protocol.name)
    it.each(Object.entries(costly))(`of ${protocol.name}: %s`, (_, costlyFrame) => {
      const frame = typeof costlyFrame === 'string' ? Buffer.from(costlyFrame) : costlyFrame
      const session = newSession(true)
      expect(cpuOf(() => reasonOf(() => decodeFrame(protocol, frame, session)))).toBeLessThan(LIMIT)
    })
  }

  for (const { name, tcp } of (await loadProtocols()).filter((protocol) => protocol.tcp))
    it.each(['\n', '*', '$', '\xff\x00\x00', 'x'])(`of a stream of ${name}: %j`, (text) => {
      const stream = Buffer.from(many(text), 'latin1')
      expect(cpuOf(() => tcp && cut(stream, tcp.frame, newSession()))).toBeLessThan(LIMIT)
    })
})

describe('a refusal', () => {
  it('has no stack trace, and leaves those of others', () => {
    const error = new DecodeError('malformed', 'it is not JSON')
    expect(error.stack).toBe('DecodeError: the frame is malformed: it is not JSON')
    expect(new Error('other').stack).toContain('cost.test.ts')
  })
})

describe('entries', () => {
  it('that cannot be read are left out and named', () => {
    expect(eachReadable([1, -1, 2, -2, 3], read)).toEqual({ good: [1, 2, 3], unreadable: [1, 3] })
    expect(eachReadable([1, 2], read)).toEqual({ good: [1, 2], unreadable: undefined })
    expect(eachReadable([], read)).toEqual({ good: [], unreadable: undefined })
  })

  it('of which none can be read are refused for the first', () => {
    expect(() => eachReadable([-1, -2], read)).toThrow('entry -1')
  })

  it('are given up after 100 refusals; the good ones up to there are kept, the rest is counted', () => {
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
})

/** An entry's reader: negative ones it refuses. */
function read(entry: number): number {
  if (entry < 0) throw new DecodeError('malformed', `entry ${entry}`)
  return entry
}

const positions = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

const bad = (count: number) => Array.from({ length: count }, () => -1)

/** ms of CPU that a work takes, the least of three runs: whatever else the machine does. */
function cpuOf(work: () => unknown): number {
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...costs)
}
