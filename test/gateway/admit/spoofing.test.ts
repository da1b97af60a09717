import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { request } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import osmand from '../../../protocols/osmand/index.ts'
import teltonika from '../../../protocols/teltonika/index.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { avlDatagram } from '../../support/encode.ts'
import { type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { inEnglish } from '../../support/texts.ts'

const AT = { host: '127.0.0.1', port: 0 }

function findings(device: string) {
  return inEnglish(observations.current()).filter(
    ({ subject, code }) => subject.device === device && code !== 'wrong_secret',
  )
}

/** A tracker that connects from an address and sends one fix after the other. */
async function tracker(port: number, localAddress: string) {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (bytes) => (heard += bytes.toString()))
  socket.write('id van-1\n')
  await until(() => expect(heard).toBe('hi\n'))
  return async (number: number) => {
    socket.write(`fix ${number}\n`)
    await until(() => expect(heard).toContain(`ok ${number}\n`))
  }
}

/** Returns a function that sets the clock to a minute and sends a fix of that minute over HTTP. */
async function sender(shared: Gateway, id: string) {
  const { port } = await open(listenHttp({ ...AT, protocol: osmand }, shared))
  const start = Math.floor(Date.now() / 1000) - 3600
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return async (minute: number, lat: number) => {
    vi.setSystemTime((start + minute * 60) * 1000 + 200)
    const url = `http://127.0.0.1:${port}/?id=${id}&lat=${lat}&lon=8&timestamp=${start + minute * 60}`
    const { statusCode, body } = await request(url)
    await body.dump()
    expect(statusCode).toBe(200)
  }
}

it('reports two connections of one id that go on from two networks, and acknowledges both', async () => {
  const shared = gateway()
  const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
  const van = await tracker(port, '127.0.0.1')
  await van(1)
  const thief = await tracker(port, '127.0.9.9')
  await thief(1)
  await van(2)
  expect(findings('van-1')).toEqual([])
  await thief(2)
  expect(findings('van-1')).toMatchObject([
    { code: 'claimed_twice', evidence: ['talk from 127.0.0.0/24 and talk from 127.0.9.0/24 in turns'] },
  ])
  expect(shared.places).toEqual(['7/42/1001', '7/42/1001', '7/42/1001', '7/42/1001'])
})

it('reports moves that no vehicle can make, and stores them in the lane all the same', async () => {
  const shared = gateway()
  const send = await sender(shared, '007')
  for (let minute = 0; minute < 6; minute++) await send(minute, 50 + minute / 100)
  for (let minute = 6; minute < 11; minute++) await send(minute, 40)
  expect(findings('007')).toMatchObject([{ code: 'impossible_move', count: 1 }])
  expect(new Set(shared.places)).toEqual(new Set(['7/43/1002']))
})

it('with suspicious: hold, holds fixes of another sender, and stores those of the van in its lane', async () => {
  const shared = gateway({ holdsSuspicious: true })
  const send = await sender(shared, '8168000008')
  for (let minute = 0; minute < 6; minute++) await send(minute, 50 + minute / 100)
  for (let minute = 6; minute < 10; minute++) {
    await send(minute, 40)
    await send(minute + 0.5, 50 + minute / 100)
  }
  const turns = Array.from({ length: 4 }, () => ['suspicious 8168000008', '7/45/1004']).flat()
  expect(shared.places.slice(6)).toEqual(turns)
  expect(findings('8168000008')).toMatchObject([{ code: 'claimed_twice' }])
})

it('with suspicious: hold, holds a forged datagram with fixes minutes apart, and no later fix of the van', async () => {
  const shared = gateway({ holdsSuspicious: true })
  const send = await sender(shared, '8168000008')
  const { port } = await open(listenUdp({ ...AT, protocol: teltonika }, shared))
  for (let minute = 0; minute < 7; minute++) await send(minute, 50 + minute / 100)
  const fixes = Array.from({ length: 6 }, (_, n) => ({
    time: Date.now() - (6 - n) * 150_000 + 200_000,
    latitude: 40,
    longitude: 8,
    satellites: 9,
  }))
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.send(avlDatagram('8168000008', 0x08, fixes), port, '127.0.0.1')
  await until(() => expect(shared.places).toHaveLength(8))
  for (let minute = 7; minute < 20; minute++) await send(minute, 50 + minute / 100)
  expect(shared.places.slice(7)).toEqual(['suspicious 8168000008', ...Array<string>(13).fill('7/45/1004')])
})
