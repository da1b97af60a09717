import { expect, it } from 'vitest'
import gt06 from '../../protocols/gt06/index.ts'
import { decodeFrame, type Fix, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { newSession } from '../support/rough.ts'

const FIX: Fix = { time: Date.UTC(2026, 10, 20), latitude: 54, longitude: 25, valid: true, speed: 10, altitude: 0 }

/** Returns what a caller of `decodeFrame` gets if the decoder returns a message. */
function said(message: Message): Message {
  const protocol: Protocol = { ...gt06, decode: () => message }
  return decodeFrame(protocol, Buffer.alloc(1), newSession())
}

it('passes on a sound message of a decoder unchanged', () => {
  const message = { device: '1', fixes: [FIX, { ...FIX, device: '2', valid: false }], reply: Buffer.of(1) }
  expect(said(message)).toBe(message)
})

it('leaves out a speed and an altitude that are no finite numbers', () => {
  const [fix] = said({ fixes: [{ ...FIX, speed: Number.NaN, altitude: Number.POSITIVE_INFINITY }] }).fixes ?? []
  expect(fix).toEqual({ ...FIX, speed: undefined, altitude: undefined })
})

it('keeps what a fix says beside its position if its id has padding or its altitude is no number', () => {
  const beside = { ignition: true }
  const { fixes = [] } = said({ device: '42 ', fixes: [{ ...FIX, altitude: Number.NaN, said: beside }] })
  expect(fixes[0].said).toEqual(beside)
})

it.each(['latitude', 'longitude', 'time'] as const)('makes a fix invalid if its %s is no number', (key) => {
  const { fixes = [] } = said({ device: '1', fixes: [FIX, { ...FIX, [key]: Number.NaN }] })
  const stand = key === 'time' ? newSession().now : 0
  expect(fixes).toEqual([FIX, { ...FIX, [key]: stand, valid: false }])
})

it('names no device if the id is empty or nothing but padding', () => {
  expect(said({ device: '', fixes: [{ ...FIX, device: ' \0' }] })).toEqual({ fixes: [FIX] })
})

it('removes the blanks and NUL bytes that pad a device id', () => {
  expect(said({ device: '42  \0', fixes: [{ ...FIX, device: ' 4 3\0' }] })).toEqual({
    device: '42',
    fixes: [{ ...FIX, device: '4 3' }],
  })
})
