import { expect, it } from 'vitest'
import { ReceivedBytes } from '../../../src/gateway/admit/backpressure.ts'

it('copies received bytes fewer than twenty times when 65,536 arrive one by one', () => {
  const received = new ReceivedBytes()
  const places = new Set<ArrayBufferLike>()
  for (let i = 0; i < 65_536; i++) {
    received.append(Buffer.of(i & 0xff))
    places.add(received.bytes.buffer)
  }
  expect(received.bytes).toEqual(Buffer.from(Array.from({ length: 65_536 }, (_, i) => i & 0xff)))
  expect(places.size).toBeLessThan(20)
  expect(received.size).toBeLessThanOrEqual(2 * 65_536)
})

it('does not copy received bytes that arrive in one chunk', () => {
  const received = new ReceivedBytes()
  const chunk = Buffer.from('abc')
  received.append(chunk)
  received.keep(received.bytes.subarray(0))
  expect(received.bytes).toBe(chunk)
})

it('received bytes leave views of earlier frames unchanged', () => {
  const received = new ReceivedBytes()
  received.append(Buffer.from('one'))
  received.append(Buffer.from(' two'))
  const frame = received.bytes.subarray(0, 4)
  received.keep(received.bytes.subarray(4))
  received.append(Buffer.from(' three'))
  expect([frame.toString(), received.bytes.toString()]).toEqual(['one ', 'two three'])
})

it('received bytes take no more memory than their length after a long frame', () => {
  const received = new ReceivedBytes()
  received.append(Buffer.alloc(60_000))
  received.append(Buffer.alloc(5000))
  received.keep(received.bytes.subarray(64_990))
  expect([received.size, received.bytes.buffer.byteLength]).toEqual([10, 10])
  received.keep(received.bytes.subarray(10))
  expect(received.size).toBe(0)
})
