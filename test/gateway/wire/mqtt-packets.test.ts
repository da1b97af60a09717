import { expect, it } from 'vitest'
import { PacketFollower } from '../../../src/gateway/wire/mqtt-packets.ts'
import { publish } from '../../support/mqtt-bytes.ts'

const lengths = [0, 1, 100, 127, 128, 300, 16_500]
const packets = lengths.map((length) => publish({ topic: 't', payload: 'x'.repeat(length), qos: 1 }))
const stream = Buffer.concat(packets)

it('a packet follower counts MQTT packets wherever a stream is split', () => {
  const ends = packets.map((_, index) => Buffer.concat(packets.slice(0, index + 1)).length)
  const wrong = Array.from({ length: stream.length + 1 }, (_, at) => at).filter((at) => {
    const state = new PacketFollower()
    const verdicts = [state.follow(stream.subarray(0, at), () => 20_000)]
    const { arrived } = state
    verdicts.push(state.follow(stream.subarray(at), () => 20_000))
    const isWhole = verdicts.every((verdict) => verdict === undefined) && state.begun === lengths.length
    return !isWhole || state.arrived !== 0 || arrived !== at - (ends.findLast((end) => end <= at) ?? 0)
  })
  expect(wrong).toEqual([])
})

it('a packet follower counts MQTT packets of a stream that arrives byte by byte', () => {
  const state = new PacketFollower()
  const verdicts = new Set(Array.from(stream, (byte) => state.follow(Buffer.of(byte), () => 20_000)))
  expect([[...verdicts], state.begun, state.arrived]).toEqual([[undefined], lengths.length, 0])
})

it('a packet follower compares each MQTT packet with its own limit, without the fixed header', () => {
  const limits = packets.map((_, index) => lengths[index] + 5)
  expect(new PacketFollower().follow(stream, (packet) => limits[packet - 1])).toBe(undefined)
  for (const [index] of limits.entries()) {
    const tight = limits.with(index, limits[index] - 1)
    expect(new PacketFollower().follow(stream, (packet) => tight[packet - 1])).toBe('frame_too_long')
  }
})

it('a packet follower refuses an MQTT length of five bytes', () => {
  expect(new PacketFollower().follow(Buffer.from('3080808000', 'hex'), () => 100)).toBe(undefined)
  expect(new PacketFollower().follow(Buffer.from('308080808000', 'hex'), () => 100)).toBe('malformed_packet')
})

const PING = Buffer.from('c000', 'hex')

/** Returns the bytes that the broker gets from chunks of this length, and the number of packets counted. */
function passed(bytes: Buffer, chunk: number, most?: number) {
  const state = new PacketFollower()
  const out: Buffer[] = []
  let complete = 0
  let calls = 0
  for (let at = 0; at < bytes.length; at += state.followed) {
    const next = Buffer.from(bytes.subarray(at, at + chunk))
    expect(state.follow(next, () => 20_000, most)).toBe(undefined)
    out.push(Buffer.from(next.subarray(0, state.passed)))
    complete += state.packets
    calls++
  }
  return { out: Buffer.concat(out), packets: complete, calls }
}

it('a packet follower passes on one of a run of pings, and every other packet as it is', () => {
  const bytes = Buffer.concat([PING, packets[3], PING, PING, PING, packets[5], packets[0], PING, PING])
  const expected = Buffer.concat([PING, packets[3], PING, packets[5], packets[0], PING])
  expect(passed(bytes, bytes.length)).toEqual({ out: expected, packets: 6, calls: 1 })
})

it('a packet follower passes on a ping of each chunk at most, and loses no other byte, wherever chunks end', () => {
  const run = Buffer.concat(Array<Buffer>(20).fill(PING))
  const bytes = Buffer.concat([packets[1], run, packets[4], run, packets[2]])
  const others = Buffer.concat([packets[1], packets[4], packets[2]])
  for (let chunk = 1; chunk <= bytes.length; chunk++) {
    const { out } = passed(bytes, chunk)
    const text = out.toString('hex')
    expect(text.replaceAll(/c000/g, '')).toBe(others.toString('hex').replaceAll(/c000/g, ''))
    expect((out.length - others.length) / 2).toBeLessThanOrEqual(2 * (Math.ceil((2 * 20) / chunk) + 1) + 2)
  }
})

it('a packet follower counts a run of pings as one packet, so that 64 KB of them pass in one step', () => {
  const run = Buffer.concat(Array<Buffer>(32_768).fill(PING))
  expect(passed(run, run.length, 100)).toEqual({ out: PING, packets: 1, calls: 1 })
})

it('a packet follower stops after the given number of packets, and continues behind them', () => {
  const many = Buffer.concat(Array<Buffer>(250).fill(packets[1]))
  expect(passed(many, many.length, 100)).toEqual({ out: many, packets: 250, calls: 3 })
})

it('a packet follower passes the type of an MQTT packet to the function that limits its length', () => {
  const types: number[] = []
  const all = Buffer.concat([packets[0], Buffer.from('8206000100016100', 'hex'), PING])
  new PacketFollower().follow(all, (_, type) => types.push(type) && 20_000)
  expect(types).toEqual([3, 8, 12])
})

it.each(['8206000100016100', 'a20500010001 61'])(
  'a packet follower leaves the bytes after the packet %s to the next call',
  (hex) => {
    const subscribe = Buffer.from(hex.replace(' ', ''), 'hex')
    const state = new PacketFollower()
    state.follow(Buffer.concat([subscribe, subscribe, PING]), () => 100, 30)
    expect([state.packets, state.followed]).toEqual([30, subscribe.length])
  },
)
