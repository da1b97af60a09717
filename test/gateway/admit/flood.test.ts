import { expect, it } from 'vitest'
import { Flood, inNetwork, MAX_DEBT_MS, SenderLimits, tokensOf } from '../../../src/gateway/admit/flood.ts'
import { LEAST_MS } from '../../../src/gateway/wire/udp.ts'

/** A flood limit whose clock stands until it is moved. */
function standing() {
  const clock = { ms: 0 }
  return { clock, flood: new Flood(() => clock.ms) }
}

const named = (device: string) => ({ device, isConfigured: true })

/** The vans of one mobile carrier: all come from one address. */
function fleet(flood: Flood, vans: number) {
  return Array.from({ length: vans }, (_, index) => {
    const device = String(350_000_000_000_000 + index)
    return { device, connect: () => new SenderLimits(flood, '203.0.113.7') }
  })
}

it('10,000 vans behind one address never wait while each sends a fix every two seconds, for an hour', () => {
  const { clock, flood } = standing()
  // One connection stands for all: each has its own rate, and no other limit applies below it.
  const sender = new SenderLimits(flood, '203.0.113.7')
  let waited = 0
  for (let second = 0; second < 3600; second++) {
    clock.ms = second * 1000
    if (second % 2 === 0) waited += sender.read(1, 1400, named('van'))
    if (second % 30 === 0) waited += sender.read(1, 1, named('van'))
  }
  expect(waited).toBe(0)
})

it.for([
  ['within a minute', 6],
  ['all at once', 0],
] as const)(
  '10,000 vans behind one address never wait when all reconnect %s, three times in ten minutes',
  ([, msBetween]) => {
    const { clock, flood } = standing()
    const vans = fleet(flood, 10_000)
    let waited = 0
    for (let round = 0; round < 3; round++) {
      for (const [index, { device, connect }] of vans.entries()) {
        clock.ms = round * 200_000 + index * msBetween
        const sender = connect()
        waited +=
          flood.take('connections', '203.0.113.0/24', 1) +
          sender.read(1, 17, {}) +
          sender.identified(named(device)) +
          sender.read(2, 800, named(device))
      }
    }
    expect(waited).toBe(0)
  },
)

it('10,000 vans behind one address are never limited, though each opens a new connection for each fix', () => {
  const { clock, flood } = standing()
  const vans = fleet(flood, 10_000)
  let refused = 0
  for (let round = 0; round < 120; round++) {
    for (const [index, { device }] of vans.entries()) {
      clock.ms = round * 5000 + index / 2
      refused +=
        flood.take('connections', '203.0.113.0/24', 1) + flood.take('network', '203.0.113.0/24', tokensOf(1, 400))
      if (!flood.admit('device', inNetwork(device, '203.0.113.0/24', true), tokensOf(1, 400))) refused++
    }
  }
  expect(refused).toBe(0)
})

it('10,000 vans behind one address never wait while all send backlogs of 2,000 fixes in big packets', () => {
  const { clock, flood } = standing()
  const senders = fleet(flood, 10_000).map(({ device, connect }) => ({ device, sender: connect() }))
  let waited = 0
  let packets = 0
  for (let packet = 0; packet < 80; packet++) {
    for (const { device, sender } of senders) {
      clock.ms = packets++ / 26
      waited += sender.read(1, 25 * 45, named(device))
    }
  }
  expect(waited).toBe(0)
})

it('500 vans behind one address never wait while each sends the backlog of a day, one fix a frame', () => {
  const { clock, flood } = standing()
  const senders = fleet(flood, 500).map(({ device, connect }) => ({ device, sender: connect() }))
  let waited = 0
  let frames = 0
  // One turn of the event loop takes a hundred frames of a connection.
  for (let batch = 0; batch < 173; batch++) {
    for (const { device, sender } of senders) {
      clock.ms = (frames += 100) / 26
      waited += sender.read(100, 100 * 45, named(device))
    }
  }
  expect(waited).toBe(0)
})

it('10,000 vans behind one address never lose a datagram, even if all send at once', () => {
  const { clock, flood } = standing()
  let dropped = 0
  const arrives = (device: string) => {
    if (!flood.admit('unidentified', '', LEAST_MS)) dropped++
    if (!flood.admit('network', '203.0.113.0/24', tokensOf(1, 100))) dropped++
    if (!flood.admit('device', inNetwork(device, '203.0.113.0/24', true), 1)) dropped++
  }
  const vans = fleet(flood, 10_000)
  for (const { device } of vans) arrives(device)
  for (let round = 1; round < 60; round++)
    for (const [index, { device }] of vans.entries()) {
      clock.ms = round * 2000 + index / 5
      arrives(device)
    }
  expect(dropped).toBe(0)
})

it('ends the connection of a sender of 200 frames without a login', () => {
  const { flood } = standing()
  const sender = new SenderLimits(flood, '198.51.100.9')
  expect([sender.read(199, 200, {}), sender.read(100, 100, {})]).toEqual([0, MAX_DEBT_MS])
})

it('delays a device after the backlog of a day, on however many connections', () => {
  const { flood } = standing()
  const connections = Array.from({ length: 4 }, () => new SenderLimits(flood, '198.51.100.9'))
  let frames = 0
  while (connections.every((sender) => sender.read(100, 100, named('van')) === 0)) frames += 400
  expect(frames).toBeGreaterThanOrEqual(30_000)
  expect(frames).toBeLessThan(31_500)
})

it('a flooding device delays neither other devices of its network nor its own id elsewhere', () => {
  const { flood } = standing()
  const [flooding, beside, elsewhere] = [
    new SenderLimits(flood, '198.51.100.9'),
    new SenderLimits(flood, '198.51.100.10'),
    new SenderLimits(flood, '192.0.2.1'),
  ]
  while (flooding.read(100, 100, named('van')) < 1000) {}
  expect([beside.read(300, 300, named('other')), elsewhere.read(300, 300, named('van'))]).toEqual([0, 0])
})

it('delays no live sender of a network in which many devices flood', () => {
  const { clock, flood } = standing()
  const live = new SenderLimits(flood, '198.51.100.10')
  const flooding = Array.from({ length: 100 }, (_, i) => ({ sender: new SenderLimits(flood, '198.51.100.9'), i }))
  let paused = 0
  let liveWaited = 0
  for (let turn = 0; turn < 100; turn++) {
    clock.ms = turn * 100
    for (const { sender, i } of flooding) if (sender.read(200, 200, named(`van-${i}`)) > 0) paused++
    liveWaited += live.read(1, 100, named('live'))
  }
  expect([paused > 0, liveWaited]).toEqual([true, 0])
})

it('answers 5,000 failures of a sender at once, then 50 a second, then none', () => {
  const { clock, flood } = standing()
  const sender = new SenderLimits(flood, '198.51.100.9')
  let answered = 0
  while (sender.failed(1) === 0) answered++
  expect(answered).toBe(5000)
  while (sender.failed(1) < MAX_DEBT_MS) answered++
  clock.ms += MAX_DEBT_MS / 2
  expect(sender.failed(1)).toBeCloseTo(MAX_DEBT_MS / 2 + 20)
  expect(answered).toBeLessThan(5000 + 50 * 31)
})

it('allows a network 30,000 connections at once, then 3,000 a second', () => {
  const { clock, flood } = standing()
  const opened = () => {
    let count = 0
    while (flood.take('connections', '198.51.100.0/24', 1) === 0) count++
    return count
  }
  expect(Math.abs(opened() - 30_000)).toBeLessThan(3)
  clock.ms += 1000
  expect(Math.abs(opened() - 3000)).toBeLessThan(3)
})
