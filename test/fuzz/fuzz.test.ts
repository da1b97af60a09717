import { expect, it } from 'vitest'
import gt06 from '../../protocols/gt06/index.ts'
import h02 from '../../protocols/h02/index.ts'
import { loadProtocols } from '../../protocols/index.ts'
import type { Message, Protocol } from '../../protocols/kit/index.ts'
import { MOST_CPU_MS, MOST_SLOWER } from '../support/cost.ts'
import { fuzz } from './run.ts'

it('damaged frames are messages or DecodeErrors with finite numbers, within their CPU time', async () => {
  const all = await loadProtocols()
  const { frames, messages, refused, faults } = await fuzz({ seed: 1, frames: 25_000, protocols: all }, all)
  expect(faults).toEqual([])
  expect([frames >= 25_000, messages > frames / 20, refused > frames / 20]).toEqual([true, true, true])
})

const kept: unknown[] = []

it.each<[string, Partial<Protocol>, RegExp, number]>([
  [
    'another error',
    { decode: (frame) => (frame.includes('__proto__') ? JSON.parse('{') : {}) },
    /^it throws Syntax/,
    5000,
  ],
  ['a heading of 400°', { decode: () => withHeading(400) }, /^heading is 400$/, 10],
  ['fixes beside a reason for none', { decode: () => ({ ...withHeading(0), none: 'login' }) }, /^none is login/, 10],
  [
    'a framer that goes on behind its bytes',
    { tcp: { port: 1, frame: ({ length }) => length + 1 } },
    /^the framer answers/,
    50,
  ],
  [
    'a frame that takes too long',
    { decode: () => busy(2 * MOST_SLOWER * MOST_CPU_MS), integrity: { none: 'slow' } },
    /^it takes [\d.]+ ms of CPU$/,
    1,
  ],
  ['memory that grows', { decode: () => keep(Array.from({ length: 400 })) }, /^memory grows/, 10_000],
])('the fuzzer finds %s', async (_, fault, what, frames) => {
  const protocol: Protocol = { ...gt06, ...fault }
  const { faults } = await fuzz({ seed: 1, frames, protocols: [protocol], watchesMemory: true }, [protocol])
  expect(faults[0].what).toMatch(what)
  expect(faults[0].protocol).toBe('gt06')
})

it('the fuzzer continues with the other protocols if one has many faults', async () => {
  const broken: Protocol = { ...gt06, decode: () => withHeading(400) }
  const { frames } = await fuzz({ seed: 1, frames: 2000, protocols: [broken, h02] }, [broken, h02])
  expect(frames).toBeGreaterThan(1000)
})

function withHeading(heading: number): Message {
  return { fixes: [{ time: 0, latitude: 0, longitude: 0, valid: true, heading }] }
}

function keep(value: unknown): Message {
  kept.push(value)
  return { none: 'login' }
}

/** Works for some ms of CPU. */
function busy(ms: number): Message {
  const begun = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(begun)
    if (user + system > ms * 1000) return { none: 'login' }
  }
}
