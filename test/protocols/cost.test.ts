import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { protocols } from '../../protocols/index.ts'
import { cut, DecodeError, decodeFrame, eachReadable, type HttpRequest } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { newSession, reasonOf } from '../support/rough.ts'

/** What anybody may send at once. */
const SIZE = 65_536

/** CPU for one of these frames, ms: what is linear takes one or two, a refusal for each entry took 150 to 950. */
const LIMIT = 50

const posted = (text: string): HttpRequest => {
  const [query, body] = text.split('\n', 2)
  return { method: 'POST', uri: `/?${query}`, headers: {}, body: Buffer.from(body) }
}

const many = (text: string) => text.repeat(SIZE / text.length)
const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

const COSTLY: Readonly<Record<string, readonly (readonly [string, Buffer | HttpRequest])[]>> = {
  fix: [
    ['entries that are none', Buffer.from(list('0'))],
    ['entries without a place', Buffer.from(list('{"timestamp":1}'))],
    ['arrays in arrays', Buffer.from(many('['))],
  ],
  gt06: [
    ['modules without content', Buffer.concat([bytes('7979ffff70'), Buffer.alloc(SIZE)])],
    ['starts without end', Buffer.from(many('\x78'))],
  ],
  h02: [
    ['fields without content', Buffer.from(`*HQ,1,V1${many(',')}#`)],
    ['a field without end', Buffer.from(`*HQ,1,V1,1,A,${many('1')},N,1,E,1,1,1#`)],
    ['one number of hyphens', Buffer.from(`*HQ,1,V1,1,A,-${many('1')},N,1,E,1,1,1#`)],
  ],
  osmand: [
    ['locations that are none', posted(`id=1\n{"location":${list('0')}}`)],
    ['a device that is a number many times', posted(`id=1\n{${many('"device_id":1,')}"location":null}`)],
    ['spaces behind a device', posted(`id=1\n{"device_id"${many(' ')}:1}`)],
    ['parameters', Buffer.from(many('a=1&'))],
    ['escapes', Buffer.from(`id=1&lat=${many('%4')}`)],
    ['commas', Buffer.from(`id=1&location=${many(',')}`)],
  ],
  owntracks: [
    ['entries that are none', Buffer.from(list('0'))],
    ['entries without a type', Buffer.from(list('{}'))],
  ],
  teltonika: [
    ['records without content', Buffer.concat([bytes('00000000 0000ffff 8eff'), Buffer.alloc(SIZE)])],
    ['elements without content', Buffer.concat([bytes('00000000 0000ffff 8e01'), Buffer.alloc(24), many8e()])],
  ],
  wialon: [
    ['records that are none', Buffer.from(`#B#${many('a|')}\r\n`)],
    ['records that are none, compressed', compressed(`#B#${many('a|').repeat(4)}`)],
    ['records that are none, compressed little', compressed(`#B#${'a|'.repeat(SIZE / 2 - 1000)}${noise(1500)}`)],
    ['good records and bad ones', Buffer.from(`#B#${many(';;;;;|a|')}\r\n`)],
    ['records without content', Buffer.from(`#B#${many('|')}\r\n`)],
    ['a login of many fields', Buffer.from(`#L#${many(';')}\r\n`)],
  ],
}

describe('the costliest 64 KB', () => {
  for (const protocol of protocols)
    it.each(COSTLY[protocol.name])(`of ${protocol.name}: %s`, (_, frame) => {
      const session = newSession(true)
      expect(cpuOf(() => reasonOf(() => decodeFrame(protocol, frame, session)))).toBeLessThan(LIMIT)
    })

  for (const { name, tcp } of protocols.filter((protocol) => protocol.tcp))
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
  it('that cannot be read are left out and counted', () => {
    expect(eachReadable([1, -1, 2, -2, 3], read)).toEqual({ good: [1, 2, 3], unreadable: [1, 3] })
    expect(eachReadable([1, 2], read)).toEqual({ good: [1, 2], unreadable: undefined })
    expect(eachReadable([], read)).toEqual({ good: [], unreadable: undefined })
  })

  it('of which none can be read are refused for the first', () => {
    expect(() => eachReadable([-1, -2], read)).toThrow('entry -1')
  })

  it('are given up after 100 refusals; the good ones up to there are kept, the rest is counted', () => {
    expect(eachReadable([1, ...bad(99), 2, 3], read)).toMatchObject({ good: [1, 2, 3], unreadable: { length: 99 } })
    expect(eachReadable([1, ...bad(100), 2, 3], read)).toMatchObject({ good: [1], unreadable: { length: 102 } })
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

function compressed(packet: string): Buffer {
  const data = deflateSync(Buffer.from(packet), { level: 9 })
  return Buffer.concat([Buffer.of(0xff, data.length & 255, data.length >> 8), data])
}

/** Text that does not compress, the same from run to run. */
function noise(length: number): string {
  let state = 1
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return String.fromCharCode(97 + ((state >> 16) % 26))
  }).join('')
}

/** Groups of elements of codec 8E: none of fixed length, 16,000 of a length of 0. */
function many8e(): Buffer {
  return Buffer.concat([bytes('0000 0000 0000 0000 0000 0000 3e80'), Buffer.alloc(SIZE)])
}
