import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import gt06 from '../../../protocols/gt06/index.ts'
import h02 from '../../../protocols/h02/index.ts'
import { DecodeError, type Protocol } from '../../../protocols/kit/index.ts'
import teltonika from '../../../protocols/teltonika/index.ts'
import type { Device } from '../../../src/config/devices.ts'
import { networksOf } from '../../../src/domain/networks.ts'
import { Backpressure, type PartialSender } from '../../../src/gateway/admit/backpressure.ts'
import { Detector } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import type { TrialShared } from '../../../src/gateway/trial/book.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { bytes as hexBytes, gt06Frame, gt06Gps } from '../../support/encode.ts'
import { count, dial, type Gateway, gateway, open, talk, until, untilHeard } from '../../support/listen.ts'
import { listening } from '../../support/listening.ts'
import { openOldDatagrams, openOldServer } from '../../support/old-server.ts'
import { spent } from '../../support/spent.ts'
import { inEnglish } from '../../support/texts.ts'
import { thrown } from '../../support/thrown.ts'
import { datagramPeer } from '../../support/udp.ts'

const VAN: Device = { id: 'van-1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
const AT = { host: '127.0.0.1', port: 0, name: 'tcp/talk', protocol: talk as Protocol }

/** A gateway, and in `seen` what its trials note. */
function onTrial(shared = gateway({ admitsUnknown: true })) {
  const seen = { stored: 0, missed: 0, equal: 0, different: [] as string[], devices: new Set<string>() }
  const book: TrialShared['book'] = {
    took({ device }, { status }) {
      if (device !== undefined) seen.devices.add(device)
      seen[status === 'stored' ? 'stored' : 'missed']++
    },
    missed: () => void seen.missed++,
    compared(_, compared) {
      if (compared.isEqual) seen.equal++
      else seen.different.push([compared.frame, compared.ours, compared.old].map(String).join('|').replaceAll('\n', ''))
    },
  }
  return Object.assign(shared, { seen, trials: { book, replica: shared.replica } })
}

type OnTrial = ReturnType<typeof onTrial>

const listenTo = (shared: Gateway, port: number, { push = true, protocol = AT.protocol, host = '127.0.0.1' } = {}) =>
  open(listenTcp({ ...AT, protocol, trial: { host, port, push } }, shared))

/** The findings about unreachable old servers, or about that on a port: findings of earlier tests end later. */
const found = (port?: number) =>
  inEnglish(observations.current()).filter(
    ({ code, evidence }) =>
      code === 'trial_unreachable' && (port === undefined || evidence.join().includes(`:${port}:`)),
  )

async function oldServer(options: Parameters<typeof openOldServer>[1] = {}) {
  const old = await openOldServer(talk, options)
  onTestFinished(() => old.stop().catch(() => {}))
  return old
}

function detecting() {
  const shared = gateway({ admitsUnknown: true })
  const configured: Gateway['configured'] = (...claim) => shared.configured(...claim)
  const detector = new Detector({ protocols: [gt06, h02, teltonika], configured, onFault: thrown })
  return onTrial(Object.assign(shared, { detector }))
}

const listenToUdp = (shared: Gateway, port: number, push = true) =>
  open(listenUdp({ ...AT, name: 'udp/talk', trial: { host: '127.0.0.1', port, push } }, shared))

async function oldPeer(answer: (datagram: string) => string | undefined) {
  const old = await openOldDatagrams(answer)
  onTestFinished(old.close)
  return old
}

const listenToHttp = (shared: Gateway, port: number, push = true) =>
  open(listenHttp({ ...AT, name: 'http/talk', trial: { host: '127.0.0.1', port, push } }, shared))

async function oldServerOver(handler: RequestListener) {
  const server = createHttpServer(handler)
  const port = await listening(server)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port }
}

/** An old server over HTTP that notes its requests and answers as `answerTo` says; undefined: no answer. */
async function askedServer(answerTo: (asked: string) => string | undefined = () => 'old') {
  const asked: string[] = []
  const { server, port } = await oldServerOver((req, res) => {
    let body = ''
    req
      .on('error', () => {})
      .on('data', (bytes) => (body += bytes))
      .on('end', () => {
        const what = `${req.method} ${req.url} ${body}`.trim()
        asked.push(what)
        const answer = answerTo(what)
        if (answer !== undefined) res.end(answer)
      })
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))))
  return { asked, port, server, sockets }
}

/** The states of the open connections to a port that processes of this machine have made: 02 is SYN-SENT. */
async function connectionsTo(port: number): Promise<string[]> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n')
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return lines
    .map((line) => line.trim().split(/ +/))
    .flatMap((line) => (line[2]?.endsWith(hex) && line[9] !== '0' ? [line[3]] : []))
}

/** Returns the port of a server that accepts no connections: new ones stay in SYN-SENT. */
async function unacceptingServer(): Promise<number> {
  const script = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    console.log(this.address().port)
    process.kill(process.pid, 'SIGSTOP')
  })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(said)
  for (let n = 0; n < 2; n++) await dial(port)
  return port
}

/** Switches `van-1` to the gateway, or back to the old server. */
async function switchVan(shared: OnTrial, change: Pick<Device, 'trial' | 'feed'>) {
  await shared.configure({ ...VAN, ...change })
}

it('a trial passes what a tracker sends to the old server, and its answers to the tracker', async () => {
  const old = await oldServer({ answer: (bytes) => Buffer.concat([Buffer.from('old '), bytes]) })
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('old hi\n'))
  peer.say('fix 1\n')
  await until(() => expect(peer.heard).toBe('old hi\nold ok 1\n'))
  expect(old.got[0].bytes.toString()).toBe('id van-1\nfix 1\n')
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  await until(() => expect(shared.seen.different).toEqual(['id van-1|hi|old hi']))
  peer.say('ping\n')
  await until(() => expect(shared.seen.different).toEqual(['id van-1|hi|old hi', 'fix 1|ok 1|old ok 1']))
})

it('a trial with push: false stores nothing, and notes all frames', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port, { push: false })
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\nodd\npart\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok\nok\n'))
  await until(() => expect(shared.seen).toMatchObject({ stored: 4, missed: 0, equal: 4, different: [] }))
  expect([shared.stored, shared.frames, shared.tries]).toEqual([[], [], 0])
  expect([...shared.seen.devices]).toEqual(['van-1'])
})

it('a trial with push: false reads unknown devices and those with a secret, and holds nothing', async () => {
  const old = await oldServer()
  const shared = onTrial(gateway())
  const { port } = await listenTo(shared, old.port, { push: false })
  for (const id of ['99', 'locked', 'locked wrong']) {
    const peer = await dial(port)
    peer.say(`id ${id}\nfix 1\n`)
    await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  }
  await until(() => expect(shared.seen).toMatchObject({ stored: 6, equal: 6, different: [] }))
  expect([shared.stored, [...shared.seen.devices]]).toEqual([[], ['99', 'locked']])
})

it('a trial misses frames of an id that is too long, and passes them on', async () => {
  const old = await oldServer()
  const shared = onTrial(gateway())
  const { port } = await listenTo(shared, old.port, { push: false })
  const peer = await dial(port)
  peer.say(`id ${'9'.repeat(65)}\nfix 1\n`)
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await until(() => expect(shared.seen).toMatchObject({ stored: 0, missed: 2 }))
  expect([...shared.seen.devices]).toEqual([])
})

it('a trial adds less than a millisecond to each answer', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const [beside, alone] = [await dial(port), await dial(old.port)]
  const waits = new Map([beside, alone].map((peer) => [peer, [] as number[]]))
  for (const peer of waits.keys()) {
    peer.socket.setMaxListeners(0)
    peer.say('id van-1\n')
  }
  for (let n = 0; n < 300; n++)
    for (const [peer, took] of waits) {
      await untilHeard(peer, () => peer.heard.endsWith('\n'))
      const before = peer.heard.length
      const began = performance.now()
      peer.say(`fix ${n}\n`)
      await untilHeard(peer, () => peer.heard.length > before)
      took.push(performance.now() - began)
    }
  // The quickest tenth: the others may have waited for other processes.
  const [quick, quickAlone] = [beside, alone].map((peer) => waits.get(peer)!.toSorted((a, b) => a - b)[30])
  expect(quick - quickAlone).toBeLessThan(1)
  await until(() => expect(shared.seen).toMatchObject({ stored: 301, missed: 0, equal: 301, different: [] }))
})

it('a trial loses nothing that passes while Redis is away, and notes what its copy has missed', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  const notStored = await count('not_stored_total')
  shared.store = 'fails'
  shared.replica.current = false
  peer.say('id van-1\nfix 1\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await until(() => expect(shared.seen).toMatchObject({ stored: 1, missed: 1, equal: 2 }))
  shared.store = 'takes'
  shared.replica.current = true
  peer.say('fix 2\n')
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, missed: 1, equal: 3 }))
  expect([shared.places, await count('not_stored_total')]).toEqual([['7/42/1001'], notStored])
})

it('a trial passes frames on while Redis hangs, and stores no more than there is room for', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  shared.store = 'waits'
  const frames = 12_000
  for (let n = 0; n < frames; n++) peer.say(`fix ${n}\n`)
  await until(() => expect(old.fixes).toBe(frames))
  await until(() => expect(peer.heard.endsWith(`ok ${frames - 1}\n`)).toBe(true))
  await until(() => expect(shared.seen.missed).toBeGreaterThan(1000))
  shared.store = 'takes'
  await until(() => expect(shared.seen.stored + shared.seen.missed).toBe(frames + 1))
  expect(shared.stored).toHaveLength(shared.seen.stored - 1)
})

it('a trial passes on frames that its decoder cannot read or that make it throw', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const broken: Protocol = {
    ...talk,
    decode(frame, session) {
      if (frame.toString().startsWith('fix 1')) throw new TypeError('a fault')
      if (frame.toString().startsWith('fix 2')) throw new DecodeError('malformed')
      return talk.decode(frame, session)
    },
  }
  const { port } = await listenTo(shared, old.port, { protocol: broken })
  const peer = await dial(port)
  for (const [said, heard] of [
    ['id van-1', 'hi'],
    ['fix 1', 'ok 1'],
    ['fix 2', 'ok 2'],
    ['fix 3', 'ok 3'],
  ]) {
    const before = peer.heard
    peer.say(`${said}\n`)
    await until(() => expect(peer.heard).toBe(`${before}${heard}\n`))
  }
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, missed: 2, equal: 2 }))
  expect(shared.seen.different).toEqual(['fix 1||ok 1', 'fix 2||ok 2'])
})

it('a trial passes on a frame that is too long for the gateway, and counts it as missed', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  peer.say('x'.repeat(100_000))
  await until(() => expect(old.got[0]?.bytes.length).toBe(100_000))
  expect(peer.over).toBe(false)
  await until(() => expect(shared.seen.missed).toBeGreaterThan(0))
})

it('a trial takes no memory for what it has missed, and little for what it has not read yet', async () => {
  let got = 0
  const old = createServer((socket) => void socket.on('data', ({ length }) => (got += length)))
  const oldPort = await listening(old)
  onTestFinished(() => void old.close())
  const held = new Map<PartialSender, number>()
  let most = 0
  class Watched extends Backpressure {
    override setPartial(sender: PartialSender, bytes: number): void {
      held.set(sender, bytes)
      most = Math.max(most, bytes)
      super.setPartial(sender, bytes)
    }
  }
  const shared = onTrial(gateway({ pressure: new Watched() }))
  const { port } = await listenTo(shared, oldPort)
  const long = await dial(port)
  long.say('x'.repeat(100_000))
  await until(() => expect(shared.seen.missed).toBeGreaterThan(0))
  expect([...held.values()]).toEqual([0])
  const fast = await dial(port)
  const pings = 'ping\n'.repeat(12 << 20)
  fast.say(`id van-1\n${pings}`)
  await until(() => expect(got).toBeGreaterThan(pings.length))
  expect(most).toBeGreaterThan(1 << 20)
  expect(most).toBeLessThan(40 << 20)
})

it('a trial passes on the end of each side, while the other side may continue', async () => {
  const got: string[] = []
  const old = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (bytes) => got.push(bytes.toString()))
    socket.on('end', () => void sleep(50).then(() => socket.end('late\n')))
  })
  const oldPort = await listening(old)
  onTestFinished(() => void old.close())
  const { port } = await listenTo(onTrial(), oldPort)
  const peer = await dial(port)
  peer.socket.end('id van-1\n')
  await until(() => expect([peer.heard, peer.over]).toEqual(['late\n', true]))
  expect(got.join('')).toBe('id van-1\n')
})

it('a trial passes resets on in both directions', async () => {
  const old = await oldServer()
  const { port } = await listenTo(onTrial(), old.port)
  const [one, other] = [await dial(port), await dial(port)]
  let code = ''
  one.socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? ''))
  other.say('id van-1\n')
  one.say('id 007\n')
  await until(() => expect([one.heard, other.heard]).toEqual(['hi\n', 'hi\n']))
  other.socket.resetAndDestroy()
  await until(() => expect(old.got.filter(({ isReset }) => isReset)).toHaveLength(1))
  old.cut()
  await until(() => expect([one.over, code]).toEqual([true, 'ECONNRESET']))
})

it('a trial resets trackers while the old server is down, and reports it until it is back', async () => {
  const old = await oldServer()
  const { port } = await listenTo(onTrial(), old.port)
  await old.stop()
  const peer = await dial(port)
  await until(() => expect(peer.over).toBe(true))
  expect(found()).toMatchObject([
    { subject: { listener: 'tcp/talk' }, evidence: [`127.0.0.1:${old.port}: ECONNREFUSED`] },
  ])
  await old.start()
  const next = await dial(port)
  next.say('id van-1\n')
  await until(() => expect(next.heard).toBe('hi\n'))
  await expect.poll(() => found(), { timeout: 20_000 }).toEqual([])
})

it('a trial reports the IPv6 address of an old server that is down in brackets', async () => {
  const { port } = await listenTo(onTrial(), 1, { host: '::1' })
  const peer = await dial(port)
  await until(() => expect(peer.over).toBe(true))
  expect(found(1)).toMatchObject([{ evidence: ['[::1]:1: ECONNREFUSED'] }])
})

it('a trial drops the connection of a tracker that is gone before the old server has accepted', async () => {
  const old = await unacceptingServer()
  const { port } = await listenTo(onTrial(), old)
  const peer = await dial(port)
  await until(async () => expect(await connectionsTo(old)).toContain('02'))
  peer.socket.resetAndDestroy()
  await until(async () => expect(await connectionsTo(old)).not.toContain('02'))
})

it('a trial holds a fast tracker back while the old server does not read', async () => {
  const old = createServer((socket) => socket.pause())
  const oldPort = await listening(old)
  onTestFinished(() => void old.close())
  const { port } = await listenTo(onTrial(), oldPort)
  const peer = await dial(port)
  const chunk = Buffer.alloc(1 << 20, 'x')
  let sent = 0
  while (sent < 64 && peer.socket.write(chunk)) sent++
  for (; sent < 64; sent++) peer.socket.write(chunk)
  await sleep(300)
  expect(peer.socket.writableLength).toBeGreaterThan(16 << 20)
  peer.socket.destroy()
})

it('a trial drops its connections when it closes, and stores what has come', async () => {
  const old = await oldServer()
  const shared = onTrial()
  const listener = await listenTo(shared, old.port)
  const peer = await dial(listener.port)
  peer.say('id van-1\nfix 1\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await listener.close()
  expect(shared.places).toEqual(['7/42/1001'])
  await until(() => expect(peer.over).toBe(true))
})

it('answers a switched device from its next connection, and leaves it to the old server when switched back', async () => {
  const old = await oldServer({ answer: (bytes) => Buffer.concat([Buffer.from('old '), bytes]) })
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const first = await dial(port)
  first.say('id van-1\n')
  await until(() => expect(first.heard).toBe('old hi\n'))
  await switchVan(shared, { trial: 'off' })
  first.say('fix 1\n')
  await until(() => expect(first.heard).toBe('old hi\nold ok 1\n'))
  const second = await dial(port)
  second.say('id van-1\nfix 2\n')
  await until(() => expect(second.heard).toBe('hi\nok 2\n'))
  expect(old.got).toHaveLength(1)
  const other = await dial(port)
  other.say('id 007\n')
  await until(() => expect(other.heard).toBe('old hi\n'))
  await switchVan(shared, { trial: 'on' })
  const third = await dial(port)
  third.say('id van-1\n')
  await until(() => expect(third.heard).toBe('old hi\n'))
})

it('recognises a switched device by its first frame, however that is cut', async () => {
  const old = await oldServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off' })
  const { port } = await listenTo(shared, old.port)
  const words = 'id van-1\nfix 2\n'
  for (let at = 1; at < words.length; at++) {
    const peer = await dial(port)
    peer.say(words.slice(0, at))
    await sleep(5)
    peer.say(words.slice(at))
    await until(() => expect(peer.heard).toBe('hi\nok 2\n'))
    peer.socket.destroy()
  }
  expect(old.got).toEqual([])
})

it('feeds the old server with frames of a switched device, and drops its answers', async () => {
  const old = await oldServer({ answer: () => Buffer.from('old') })
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await until(() => expect(old.got[0]?.bytes.toString()).toBe('id van-1\nfix 1\n'))
  await old.stop()
  peer.say('fix 2\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\n'))
  expect(shared.places).toHaveLength(2)
})

it('serves a switched device while the fed old server is away, and reports nothing', async () => {
  const old = await oldServer()
  await old.stop()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenTo(shared, old.port)
  for (const n of [1, 2]) {
    const peer = await dial(port)
    peer.say(`id van-1\nfix ${n}\n`)
    await until(() => expect(peer.heard).toBe(`hi\nok ${n}\n`))
    peer.say('fix\n')
    await until(() => expect(peer.heard).toBe(`hi\nok ${n}\nok\n`))
    peer.socket.destroy()
  }
  expect(found(old.port)).toEqual([])
})

it('leaves no connection to a fed old server behind when the switched device is gone', async () => {
  const sockets = new Set<Socket>()
  let got = ''
  const old = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('data', (bytes) => (got += bytes.toString())).on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  const oldPort = await listening(old)
  onTestFinished(() => void old.close())
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenTo(shared, oldPort)
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\n')
  await until(() => expect([peer.heard, got]).toEqual(['hi\nok 1\n', 'id van-1\nfix 1\n']))
  peer.socket.destroy()
  // The old server never ends its half.
  await expect.poll(() => [...sockets].filter(({ readableEnded }) => !readableEnded)).toEqual([])
  await expect.poll(() => connectionsTo(oldPort), { timeout: 20_000 }).toEqual([])
})

it('leaves other devices with the old server, also those that do not name themselves at once', async () => {
  const old = await oldServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off' })
  const { port } = await listenTo(shared, old.port)
  const peer = await dial(port)
  peer.say('ping\n')
  await until(() => expect(peer.heard).toBe('pong\n'))
  expect(old.got[0].bytes.toString()).toBe('ping\n')
  const ended = await dial(port)
  ended.socket.end('ping\n')
  await until(() => expect(ended.heard).toBe('pong\n'))
})

it('a trial changes nothing for a tracker that connects while another one is switched', async () => {
  const old = await oldServer({ delayMs: 20 })
  const shared = onTrial()
  const { port } = await listenTo(shared, old.port)
  const peers = await Promise.all(Array.from({ length: 20 }, () => dial(port)))
  const switching = switchVan(shared, { trial: 'off' })
  for (const [index, peer] of peers.entries()) peer.say(`id ${index % 2 ? '007' : 'van-1'}\nfix ${index}\n`)
  await switching
  for (const [index, peer] of peers.entries()) await until(() => expect(peer.heard).toBe(`hi\nok ${index}\n`))
})

const ID = '356307042441013'
const LOGIN = gt06Frame(0x01, hexBytes(`0${ID}`))
const FIX = gt06Frame(0x12, gt06Gps({ date: '261120120000', latitude: 52.52, longitude: 13.41, satellites: 9 }))

it('a trial on the port for all protocols detects the protocols of trackers, and compares the answers', async () => {
  const old = await openOldServer(gt06)
  onTestFinished(() => old.stop())
  const shared = detecting()
  const trial = { host: '127.0.0.1', port: old.port, push: false }
  const { port } = await open(listenTcp({ ...AT, protocol: undefined, trial }, shared))
  const peer = await dial(port)
  peer.say(LOGIN)
  await until(() => expect(peer.heard).toHaveLength(10))
  peer.say(FIX.subarray(0, 5))
  peer.say(FIX.subarray(5))
  await until(() => expect(peer.heard).toHaveLength(20))
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, missed: 0, equal: 2, different: [] }))
  expect([...shared.seen.devices]).toEqual([ID])
})

it('a trial reads frames of a tracker that was gone before its protocol could be detected', async () => {
  const old = await openOldServer(gt06)
  onTestFinished(() => old.stop())
  const shared = detecting()
  const trial = { host: '127.0.0.1', port: old.port, push: false }
  const { port } = await open(listenTcp({ ...AT, protocol: undefined, trial }, shared))
  await spent(shared.detector as Detector)
  const peer = await dial(port)
  // A frame whose protocol is decided only once the tracker is silent.
  peer.say('*HQ,4209951296,V1,120000,A,5231.2000,N,01324.6000,E,0.00,0,201126,FFFFFFFF#')
  peer.socket.resetAndDestroy()
  await until(() => expect(shared.seen.stored + shared.seen.missed).toBe(1))
  expect([shared.seen.stored, shared.notUnderstood]).toEqual([1, []])
})

it('answers a switched device in its own protocol on the port for all protocols', async () => {
  const old = await openOldServer(gt06)
  const shared = detecting()
  await shared.configure({ ...VAN, id: ID, trial: 'off' })
  const trial = { host: '127.0.0.1', port: old.port, push: false }
  const { port } = await open(listenTcp({ ...AT, protocol: undefined, trial }, shared))
  await old.stop()
  const peer = await dial(port)
  peer.say(LOGIN)
  await until(() => expect(peer.heard).toHaveLength(10))
  peer.say(FIX)
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
})

it('a UDP trial gives each peer a socket of its own, and passes the answers back', async () => {
  const old = await oldPeer((said) => `old ${said}`)
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port)
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  van.say('fixof van-1\n')
  other.say('fixof 007\n')
  await until(() => expect([van.heard, other.heard]).toEqual([['old fixof van-1\n'], ['old fixof 007\n']]))
  await until(() => expect(shared.places.toSorted()).toEqual(['7/42/1001', '7/43/1002']))
  van.say('fixof van-1\n')
  await until(() => expect(shared.seen.different).toContain('fixof van-1|ok|old fixof van-1'))
})

it('answers a switched device over UDP once one of its datagrams has named it', async () => {
  const old = await oldPeer((said) => `old ${said}`)
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port)
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  await switchVan(shared, { trial: 'off' })
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  van.say('fix 1\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  other.say('fix 1\n')
  await until(() => expect(other.heard).toEqual(['old fix 1\n']))
  expect(old.got).toEqual(['fix 1\n'])
})

it('a UDP trial passes on datagrams that it has no time to read', async () => {
  const old = await oldPeer((said) => `old ${said}`)
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port)
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  van.say('fixof van-1\n')
  await until(() => expect(shared.seen.stored).toBe(1))
  shared.flood.take('unidentified', 'all networks', 100_000)
  other.say('fixof 007\n')
  van.say('fixof van-1\n')
  await until(() => expect([van.heard.length, other.heard]).toEqual([2, ['old fixof 007\n']]))
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, missed: 1 }))
})

it('a UDP trial does not report an old server that is only fed and away', async () => {
  const old = await oldPeer(() => 'old')
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port)
  old.close()
  await switchVan(shared, { trial: 'off', feed: true })
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  for (let n = 1; n < 4; n++) {
    van.say('fixof van-1\n')
    await until(() => expect(van.heard).toHaveLength(n))
  }
  expect(found(old.port)).toEqual([])
  other.say('fixof 007\n')
  await until(() => expect(found(old.port)).toHaveLength(1))
})

it('a UDP trial compares the answers of the old server with ours', async () => {
  const old = await oldPeer(() => 'ok\n')
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port, false)
  const van = await datagramPeer(port)
  van.say('fixof van-1\n')
  van.say('fixof van-1\n')
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, equal: 2, different: [] }))
  expect(shared.stored).toEqual([])
})

it('answers a switched device over UDP, and feeds the old server if asked to', async () => {
  const old = await oldPeer(() => 'old')
  const shared = onTrial()
  const { port } = await listenToUdp(shared, old.port)
  const van = await datagramPeer(port)
  await switchVan(shared, { trial: 'off', feed: true })
  van.say('fixof van-1\n')
  await until(() => expect([van.heard, old.got]).toEqual([['ok\n'], ['fixof van-1\n']]))
  await switchVan(shared, { trial: 'off' })
  van.say('fixof van-1\n')
  await until(() => expect(van.heard).toEqual(['ok\n', 'ok\n']))
  expect(old.got).toHaveLength(1)
})

it('an HTTP trial passes requests and answers on unchanged, and compares status and body', async () => {
  const asked: string[] = []
  const old = await oldServerOver((req, res) => {
    let body = ''
    req
      .on('data', (bytes) => (body += bytes))
      .on('end', () => {
        asked.push(`${req.method} ${req.url} ${String(req.headers['x-van'])} ${body}`)
        res.writeHead(req.url === '/fix' ? 418 : 200, 'Fine', { 'x-old': 'yes' }).end('ok\n')
      })
  })
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const ask = async (path: string, body?: string) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-van': '12' },
      body,
    })
    return [answer.statusCode, answer.headers['x-old'], await answer.body.text()]
  }
  expect(await ask('/fixof%20van-1')).toEqual([200, 'yes', 'ok\n'])
  expect(await ask('/fixof%20', 'van-1')).toEqual([200, 'yes', 'ok\n'])
  expect(asked).toEqual(['GET /fixof%20van-1 12 ', 'POST /fixof%20 12 van-1'])
  await until(() => expect(shared.seen).toMatchObject({ stored: 2, missed: 0, equal: 2, different: [] }))
  expect(shared.places).toEqual(['7/42/1001', '7/42/1001'])
  expect((await ask('/nothing'))[0]).toBe(200)
  await until(() => expect(shared.seen.different).toHaveLength(1))
  expect(shared.seen.different[0]).toMatch(/^GET \/nothing\|400 .*\|200 ok$/)
})

it('an HTTP trial passes on bodies that are too long for the gateway', async () => {
  let length = 0
  const old = await oldServerOver((req, res) => {
    req.on('data', (bytes: Buffer) => (length += bytes.length)).on('end', () => res.end('ok\n'))
  })
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  for (const change of [{}, { trial: 'off' }] as const) {
    await switchVan(shared, change)
    length = 0
    const body = Buffer.alloc(100_000, 'x')
    const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    expect([answer.statusCode, await answer.body.text(), length]).toEqual([200, 'ok\n', 100_000])
  }
  await until(() => expect(shared.seen).toMatchObject({ stored: 0, missed: 2 }))
})

it('an HTTP trial cuts the connection of a client if the old server cuts its own or is down', async () => {
  const old = await oldServerOver((req) => void req.socket.resetAndDestroy())
  const { port } = await listenToHttp(onTrial(), old.port)
  await expect(request(`http://127.0.0.1:${port}/fixof%20van-1`)).rejects.toThrow()
  await new Promise((resolve) => old.server.close(resolve))
  await expect(request(`http://127.0.0.1:${port}/fixof%20van-1`)).rejects.toThrow()
})

it('answers the HTTP requests of a switched device', async () => {
  const asked: string[] = []
  const old = await oldServerOver((req, res) => (asked.push(req.url ?? ''), res.end('old')))
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const ask = async (path: string) => (await request(`http://127.0.0.1:${port}${path}`)).body.text()
  await switchVan(shared, { trial: 'off' })
  expect([await ask('/fixof%20van-1'), await ask('/fixof%20007'), asked]).toEqual(['ok\n', 'old', ['/fixof%20007']])
  await switchVan(shared, { trial: 'off', feed: true })
  expect(await ask('/fixof%20van-1')).toBe('ok\n')
  await until(() => expect(asked).toEqual(['/fixof%20007', '/fixof%20van-1']))
  await switchVan(shared, {})
  expect(await ask('/fixof%20van-1')).toBe('old')
})

it('an HTTP trial answers pipelined requests in order, also to a client that has ended its half', async () => {
  const old = await askedServer((asked) => `${asked};`)
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const peer = await dial(port)
  const paths = Array.from({ length: 60 }, (_, n) => `/fixof%20van-1?${n}`)
  peer.socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await until(() => expect(peer.over).toBe(true))
  expect(old.asked).toEqual(paths.map((path) => `GET ${path}`))
  expect([...peer.heard.matchAll(/GET (\S+);/g)].map(([, path]) => path)).toEqual(paths)
})

it('an HTTP trial stops reading a pipelining client while the old server does not answer', async () => {
  const old = await askedServer(() => undefined)
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const peer = await dial(port)
  const requests = 'GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000)
  let sent = 0
  while (sent < 500 && peer.socket.write(requests)) sent++
  for (; sent < 500; sent++) peer.socket.write(requests)
  await until(() => expect(old.asked).toHaveLength(1))
  await sleep(300)
  expect(peer.socket.writableLength).toBeGreaterThan(8 << 20)
  expect([peer.over, old.asked, shared.pressure.isHigh]).toEqual([false, ['GET /fixof%20van-1'], false])
})

it.each(['close', 'reset'])(
  'an HTTP trial passes on the complete requests of a client that does not wait for answers: %s',
  async (how) => {
    const old = await askedServer()
    const shared = onTrial()
    const { port } = await listenToHttp(shared, old.port)
    const posts = Array.from({ length: 5 }, (_, n) => `van-${n + 1}`)
    const text = posts.map((van) => `POST /fixof%20 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n${van}`).join('')
    const peer = await dial(port)
    await new Promise((resolve) => peer.socket.write(text, resolve))
    await until(() => expect(old.asked.length).toBeGreaterThan(how === 'close' ? -1 : 0))
    if (how === 'close') peer.socket.destroy()
    else peer.socket.resetAndDestroy()
    await until(() => expect(old.asked).toEqual(posts.map((van) => `POST /fixof%20 ${van}`)))
    await until(() => expect(shared.seen.stored).toBeGreaterThan(0))
    await until(() => expect(old.sockets.size).toBe(0))
  },
)

it('an HTTP trial ends its connection to an old server that does not answer when the client is gone', async () => {
  const old = await askedServer(() => undefined)
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const whole = await dial(port)
  whole.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(old.asked).toHaveLength(1))
  whole.socket.resetAndDestroy()
  await expect.poll(() => old.sockets.size, { timeout: 20_000 }).toBe(0)
})

it('an HTTP trial passes no request on whose client is gone before it is complete', async () => {
  const old = await askedServer()
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  for (const change of [{}, { trial: 'off' }] as const) {
    await switchVan(shared, change)
    const peer = await dial(port)
    peer.say('POST /fixof%20 HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nvan-1')
    if (!change.trial) await until(() => expect(old.sockets.size).toBe(1))
    await sleep(50)
    peer.socket.destroy()
    await until(() => expect(old.sockets.size).toBe(0))
  }
  await sleep(50)
  expect([old.asked, old.sockets.size]).toEqual([[], 0])
})

it('an HTTP trial passes on a body that arrives slowly, also while a device is switched', async () => {
  const old = await askedServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off' })
  const { port } = await listenToHttp(shared, old.port)
  const peer = await dial(port)
  peer.say('POST /fixof%20 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nvan')
  await until(() => expect(old.sockets.size).toBe(1))
  peer.say('-1')
  await until(() => expect(peer.heard).toMatch(/200 OK[^]*old$/))
  expect(old.asked).toEqual(['POST /fixof%20 van-1'])
})

it('an HTTP trial passes on whether the old server answers 100 Continue', async () => {
  const old = await askedServer()
  old.server.on('checkContinue', (req, res) => {
    if (req.url !== '/no') res.writeContinue()
    if (req.url === '/no') res.writeHead(413, { connection: 'close' }).end('too long')
    else old.server.emit('request', req, res)
  })
  const shared = onTrial()
  const { port } = await listenToHttp(shared, old.port)
  const head = 'HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n'
  for (const change of [{}, { trial: 'off' }] as const) {
    await switchVan(shared, change)
    const peer = await dial(port)
    peer.say(`POST /fixof%20 ${head}`)
    await until(() => expect(peer.heard).toBe('HTTP/1.1 100 Continue\r\n\r\n'))
    peer.say('007\n\n')
    await until(() => expect(peer.heard).toMatch(/Continue\r\n\r\nHTTP\/1.1 200 OK[^]*old$/))
  }
  expect(old.asked).toEqual(Array(2).fill('POST /fixof%20 007'))
  await switchVan(shared, {})
  const refused = await dial(port)
  refused.say(`POST /no ${head}`)
  await until(() => expect(refused.heard).toMatch(/^HTTP\/1.1 413 [^]*too long/))
  const own = await dial(port)
  await switchVan(shared, { trial: 'off' })
  own.say(`POST /fixof%20 ${head}`)
  await until(() => expect(own.heard).toBe('HTTP/1.1 100 Continue\r\n\r\n'))
  own.say('van-1')
  await until(() => expect(own.heard).toMatch(/200 OK[^]*ok\n$/))
})

it('an HTTP trial refuses a client that may not connect, also if it expects 100 Continue first', async () => {
  const old = await askedServer()
  const trial = { host: '127.0.0.1', port: old.port, push: true }
  const trusted = Object.assign(onTrial(), { trustedProxies: networksOf(['127.0.0.1']) })
  const { port } = await open(listenHttp({ ...AT, name: 'http/talk', networks: ['192.0.2.0/24'], trial }, trusted))
  const peer = await dial(port)
  peer.say('POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.1\r\nContent-Length: 5\r\n')
  peer.say('Expect: 100-continue\r\n\r\n')
  await until(() => expect(peer.heard).toBe('HTTP/1.1 100 Continue\r\n\r\n'))
  peer.say('van-1')
  await until(() => expect(peer.heard).toContain('HTTP/1.1 403'))
  expect(old.asked).toEqual([])
})

it('an HTTP trial serves HTTP/1.0 without a host, and sends a body without chunks', async () => {
  const old = await oldServerOver((_, res) => {
    res.write('o')
    res.end('ld')
  })
  const { port } = await listenToHttp(onTrial(), old.port)
  for (const change of ['HTTP/1.0', 'HTTP/1.0\r\nHost: x']) {
    const peer = await dial(port)
    peer.say(`GET /fixof%20van-1 ${change}\r\n\r\n`)
    await until(() => expect(peer.over).toBe(true))
    expect(peer.heard).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\nold$/)
  }
})

it('an HTTP trial passes the answer of the old server on as it is, also one that ends with the connection', async () => {
  const answer = 'HTTP/1.1 200 Fine\r\nX-Old: yes\r\n\r\nold'
  const old = createServer((socket) => void socket.on('data', () => socket.end(answer)))
  const oldPort = await listening(old)
  onTestFinished(() => void old.close())
  const { port } = await listenToHttp(onTrial(), oldPort)
  const peer = await dial(port)
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toBe(answer)
})

it('answers a switched device whose HTTP body is compressed', async () => {
  const old = await askedServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off' })
  const { port } = await listenToHttp(shared, old.port)
  const body = gzipSync('van-1')
  const headers = { 'content-encoding': 'gzip' }
  const answer = await request(`http://127.0.0.1:${port}/fixof%20`, { method: 'POST', body, headers })
  expect([await answer.body.text(), old.asked]).toEqual(['ok\n', []])
})

const ask = async (port: number, van: string) => (await request(`http://127.0.0.1:${port}/fixof%20${van}`)).body.text()

it('feeds the old server with HTTP requests although their clients are gone at once', async () => {
  const old = await askedServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenToHttp(shared, old.port)
  for (let n = 0; n < 20; n++) {
    const peer = await dial(port)
    peer.say(`GET /fixof%20van-1?${n} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    await until(() => expect(peer.heard).toContain('200'))
    peer.socket.destroy()
  }
  await until(() => expect(old.asked.toSorted()).toHaveLength(20))
})

it('reports an old HTTP server that is away only once it has to answer a device', async () => {
  const old = await askedServer()
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenToHttp(shared, old.port)
  await new Promise((resolve) => old.server.close(resolve))
  expect(await ask(port, 'van-1')).toBe('ok\n')
  expect(await ask(port, 'van-1')).toBe('ok\n')
  await expect(ask(port, '007')).rejects.toThrow()
  await until(() => expect(found(old.port)).toHaveLength(1))
})

it('holds up neither a fed device nor others while the old server does not answer, and feeds few requests', async () => {
  const old = await askedServer((asked) => (asked.includes('van-1') ? undefined : 'old'))
  const shared = onTrial()
  await switchVan(shared, { trial: 'off', feed: true })
  const { port } = await listenToHttp(shared, old.port)
  const peer = await dial(port)
  const pad = 'x'.repeat(3000)
  for (let n = 0; n < 4000; n += 10) {
    peer.say(`GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\nX-Pad: ${pad}\r\n\r\n`.repeat(10))
    await until(() => expect(peer.heard.split('200 OK')).toHaveLength(n + 11))
  }
  peer.say('GET /fixof%20007 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(peer.heard.endsWith('old')).toBe(true))
  expect(old.asked.length).toBeLessThan(40)
})
