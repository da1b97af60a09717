import { describe, expect, it } from 'vitest'
import { append, createUnread, keep, sizeOf } from '../../src/listen/unread.ts'

describe('bytes that wait for more', () => {
  it('are copied some twenty times, not for each of 65,536 that come singly', () => {
    const unread = createUnread()
    const places = new Set<ArrayBufferLike>()
    for (let i = 0; i < 65_536; i++) {
      append(unread, Buffer.of(i & 0xff))
      places.add(unread.bytes.buffer)
    }
    expect(unread.bytes).toEqual(Buffer.from(Array.from({ length: 65_536 }, (_, i) => i & 0xff)))
    expect(places.size).toBeLessThan(20)
    expect(sizeOf(unread)).toBeLessThanOrEqual(2 * 65_536)
  })

  it('are not copied where they came at once', () => {
    const unread = createUnread()
    const chunk = Buffer.from('abc')
    append(unread, chunk)
    keep(unread, unread.bytes.subarray(0))
    expect(unread.bytes).toBe(chunk)
  })

  it('leave the frames before them as they are', () => {
    const unread = createUnread()
    append(unread, Buffer.from('one'))
    append(unread, Buffer.from(' two'))
    const frame = unread.bytes.subarray(0, 4)
    keep(unread, unread.bytes.subarray(4))
    append(unread, Buffer.from(' three'))
    expect([frame.toString(), unread.bytes.toString()]).toEqual(['one ', 'two three'])
  })

  it('take no more memory than they are after a long frame', () => {
    const unread = createUnread()
    append(unread, Buffer.alloc(60_000))
    append(unread, Buffer.alloc(5000))
    keep(unread, unread.bytes.subarray(64_990))
    expect([sizeOf(unread), unread.bytes.buffer.byteLength]).toEqual([10, 10])
    keep(unread, unread.bytes.subarray(10))
    expect(sizeOf(unread)).toBe(0)
  })
})
