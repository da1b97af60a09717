import { expect, it } from 'vitest'
import { PacketFollower } from '../../src/listen/mqtt-packets.ts'
import { publish } from '../support/mqtt-bytes.ts'

const lengths = [0, 1, 100, 127, 128, 300, 16_500]
const packets = lengths.map((length) => publish({ topic: 't', payload: 'x'.repeat(length), qos: 1 }))
const stream = Buffer.concat(packets)

it('counts MQTT packets wherever a stream is split', () => {
  for (let at = 0; at <= stream.length; at++) {
    const state = new PacketFollower()
    expect(state.follow(stream.subarray(0, at), () => 20_000)).toBe(undefined)
    const whole = packets
      .map((_, index) => Buffer.concat(packets.slice(0, index + 1)).length)
      .filter((end) => end <= at)
    expect(state.arrived).toBe(at - (whole.at(-1) ?? 0))
    expect(state.follow(stream.subarray(at), () => 20_000)).toBe(undefined)
    expect([state.begun, state.arrived]).toEqual([lengths.length, 0])
  }
})

it('counts MQTT packets of a stream that arrives byte by byte', () => {
  const state = new PacketFollower()
  for (const byte of stream) expect(state.follow(Buffer.of(byte), () => 20_000)).toBe(undefined)
  expect([state.begun, state.arrived]).toEqual([lengths.length, 0])
})

it('compares each MQTT packet with its own limit, without the fixed header', () => {
  const limits = packets.map((_, index) => lengths[index] + 5)
  expect(new PacketFollower().follow(stream, (packet) => limits[packet - 1])).toBe(undefined)
  for (const [index] of limits.entries()) {
    const tight = limits.with(index, limits[index] - 1)
    expect(new PacketFollower().follow(stream, (packet) => tight[packet - 1])).toBe('frame_too_long')
  }
})

it('refuses an MQTT length of five bytes', () => {
  expect(new PacketFollower().follow(Buffer.from('3080808000', 'hex'), () => 100)).toBe(undefined)
  expect(new PacketFollower().follow(Buffer.from('308080808000', 'hex'), () => 100)).toBe('malformed_packet')
})
