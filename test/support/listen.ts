import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { onTestFinished, vi } from 'vitest'
import { DecodeError, enveloped, line, type Message, type Protocol, type Session } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { networksOf } from '../../src/domain/networks.ts'
import { Backpressure } from '../../src/gateway/admit/backpressure.ts'
import { ConnectionLimits } from '../../src/gateway/admit/connection-limits.ts'
import { Flood } from '../../src/gateway/admit/flood.ts'
import { Slots } from '../../src/gateway/admit/slots.ts'
import { FixStorage } from '../../src/gateway/fix-storage.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { Ingest } from '../../src/gateway/take.ts'
import type { DetectorOptions } from '../../src/gateway/wire/detect.ts'
import type { Listener, Shared } from '../../src/gateway/wire/listener.ts'
import { registry } from '../../src/observe/metrics.ts'
import type { Roster } from '../../src/roster/roster.ts'
import type { Appender, FrameStore, Part, Storable } from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import type { JournalOptions } from '../../src/gateway/journal.ts'
import { journalOf, QUIET_BOOKS } from './journal.ts'
import { createDirectory } from './roster.ts'
import { NO_MAPPINGS, NO_SECRETS } from './unconfigured.ts'

const LIMITS: Shared['limits'] = {
  max_connections: 1000,
  max_connections_per_ip: 1000,
  max_connections_per_device: 1000,
  identify_timeout: 30_000,
  idle_timeout: 60_000,
  max_frame_bytes: 4096,
}

/** What `talk` says of itself: `at` and place of its one fix do not matter here. */
const FIX = { latitude: 50.1, longitude: 8.7, valid: true }

/**
 * A protocol for tests, of lines:
 * `id <device>[ <secret>]` says who speaks (answer `hi`, refusal `no`), `fix` and `fix <n>` report a position (answer `ok`,
 * `ok <n>`), `mute` is a fix without an answer, `relay <device> …` a fix of each device, `ping` says nothing.
 * Not understood: `odd [<n>]` (a position of which nothing is read), `part` (one of two positions is read), `what` (of an
 * unknown type, answered) and `hush` (not answered); `unread [<n>]` has a sound envelope and content that cannot be read, `checked [<n>]`
 * a checksum that fits as well. `by <device> …` names the device of the rest. Anything else is none of it.
 */
export const talk = {
  name: 'talk',
  devices: 'tests',
  acknowledges: 'fixes',
  tcp: { port: 1, frame: line },
  udp: { port: 1, frame: line },
  http: { port: 1 },
  request({ uri, body }, session): Message {
    return talk.decode(Buffer.concat([Buffer.from(decodeURIComponent(uri.slice(1))), body]), session)
  },
  decode(frame: Buffer, session: Session): Message {
    const [word, ...rest] = frame.toString().trim().split(' ')
    const fixes = [{ ...FIX, time: session.now }]
    if (word === 'id')
      return {
        device: rest[0],
        secret: rest[1],
        none: 'login',
        reply: Buffer.from('hi\n'),
        refusal: Buffer.from('no\n'),
      }
    if (word === 'fix') return { fixes, reply: Buffer.from(`${['ok', ...rest].join(' ')}\n`) }
    if (word === 'fixof') return { device: rest[0], secret: rest[1], fixes, reply: Buffer.from('ok\n') }
    if (word === 'mute') return { fixes }
    if (word === 'relay') return { fixes: rest.map((device) => ({ ...fixes[0], device })), reply: Buffer.from('ok\n') }
    if (word === 'ping') return { none: 'ping', reply: Buffer.from('pong\n') }
    if (word === 'odd') return { fixes: [], reply: Buffer.from(`${['ok', ...rest].join(' ')}\n`) }
    if (word === 'part') return { fixes, unreadable: [1], reply: Buffer.from('ok\n') }
    if (word === 'what') return { reply: Buffer.from('hm\n') }
    if (word === 'hush') return {}
    if (word === 'unread' || word === 'checked')
      return enveloped({ reply: Buffer.from(`${['ok', ...rest].join(' ')}\n`) }, () => {
        if (word === 'checked') session.hasVerified = true
        throw new DecodeError('malformed', 'the content')
      })
    if (word === 'by')
      return enveloped({ device: rest[0] }, () => talk.decode(Buffer.from(rest.slice(1).join(' ')), session))
    throw new DecodeError('malformed')
  },
} satisfies Protocol

export const SECRET = 's3cret&"'

/** `van-1` and `007` have no secret. */
const DEVICES: Device[] = [
  { id: 'van-1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' },
  { id: '007', company_id: '7', courier_id: '43', route_id: '1002', source: 'devices.yaml:2' },
  { id: 'locked', company_id: '7', courier_id: '44', route_id: '1003', secret: SECRET, source: 'devices.yaml:3' },
  { id: '8168000008', company_id: '7', courier_id: '45', route_id: '1004', source: 'devices.yaml:4' },
]

/** A gateway's shared parts with everything real but Redis: `store` stands for the append. */
export interface Gateway extends Shared {
  /** What was stored, in order. */
  readonly stored: Storable[]
  /** What nobody understood. */
  readonly notUnderstood: Parameters<Shared['journal']['notUnderstood']>[1][]
  /** Frames that were kept, since they were not understood, in order. */
  readonly frames: MisunderstoodFrame[]
  /** How often something was to be stored. */
  tries: number
  /** Where the first fix of each went: its lane, or why and of whom it is held: `unknown 99`. */
  readonly places: readonly string[]
  /** What becomes of what is stored next: taken (at first), refused, or neither until it changes; no frame is kept. */
  store: 'takes' | 'fails' | 'waits' | 'has no room'
  readonly ingest: Pick<Ingest, 'take' | 'login' | 'waitForRoster'>
  /** What a detector asks about the devices that are guessed. */
  readonly configured: DetectorOptions['configured']
  readonly replica: { current: boolean; roster: Roster; version: number }
  /** Configures one more device. */
  configure(device: Device): Promise<void>
  readonly goneDevices: (string | undefined)[]
}

const DIRECTORY = await createDirectory(DEVICES, [])

export function gateway({
  limits = {},
  pressure = new Backpressure(),
  admitsUnknown = false,
  waitMs = 0,
  maxUnknownDevices = 1000,
  holdsSuspicious = false,
  trails = new Trails(),
  frameStore,
  days = QUIET_BOOKS.days,
  listeners = QUIET_BOOKS.listeners,
  ...other
}: Partial<GatewayOptions> = {}): Gateway {
  const all = { ...LIMITS, ...limits }
  const slots = new Slots(all.max_connections_per_device)
  let devices = DEVICES
  const waiting: (() => void)[] = []
  let store: Gateway['store'] = 'takes'
  const logger = pino({ level: 'silent' })
  const journal = journalOf({
    heard: { ...QUIET_BOOKS.heard, gone: ({ device }) => void made.goneDevices.push(device) },
    arrivals: { ...QUIET_BOOKS.arrivals, notUnderstood: (_, beginning) => void made.notUnderstood.push(beginning) },
    days,
    listeners,
    logger,
  })
  const made: Gateway = {
    stored: [],
    frames: [],
    tries: 0,
    goneDevices: [],
    configured(id, { session, ...claim }) {
      const entry = ingest.provedEntry({ id, ...claim }, session)
      return entry && (entry.protocol ?? '')
    },
    replica: { current: true, roster: DIRECTORY, version: 0 },
    async configure(device) {
      devices = [...devices, device]
      made.replica.roster = await createDirectory(devices, [])
    },
    get places() {
      return made.stored.map(({ parts }) => placeOf(parts[0]))
    },
    get store() {
      return store
    },
    set store(state) {
      store = state
      for (const go of waiting.splice(0)) go()
    },
    limits: all,
    trustedProxies: networksOf([]),
    logger,
    connectionLimits: new ConnectionLimits(all, { slots, fit: Number.POSITIVE_INFINITY }),
    pressure,
    slots,
    flood: new Flood(),
    udpPorts: new Set(),
    detector: undefined,
    notUnderstood: [],
    journal,
    ingest: {
      take: (frame, session, protocol) => ingest.take(frame, session, protocol),
      waitForRoster: (transport) => ingest.waitForRoster(transport),
      login: (...login) => ingest.login(...login),
    },
    ...other,
  }
  const onDisk = async () => {
    made.tries++
    while (made.store === 'waits') await new Promise<void>((resolve) => waiting.push(resolve))
    if (made.store === 'fails') throw new Error('no Redis')
  }
  const append: Appender['append'] = async (item) => {
    await onDisk()
    made.stored.push(item)
    return { duplicates: 0, refused: false }
  }
  const keep: FrameStore['keep'] = async ({ text }) => {
    await onDisk()
    if (made.store === 'has no room') return false
    made.frames.push(JSON.parse(text) as MisunderstoodFrame)
    return true
  }
  const filter = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious }
  const hold = { unknown: admitsUnknown, no_route: true, clock: true, max_age: 86_400_000 }
  const storing = {
    replica: made.replica,
    filter,
    hold,
    appender: { append, count: () => {} },
    clock: { isInDoubt: false, jumps: 0, now: () => Date.now() },
    holding: { marking: undefined },
    capacity: { hasShortage: false, isFull: false, shortageFor: () => undefined },
    trails,
  }
  const ingest = new Ingest({
    ...storing,
    storage: new FixStorage(storing),
    journal,
    frameStore: frameStore ?? { keep },
    unknownDevices: new UnknownDeviceQuota(maxUnknownDevices),
    guesses: new GuessDelays(),
    enrolment: { isOpen: false },
    secrets: NO_SECRETS,
    mappings: NO_MAPPINGS,
    waitMs: { tcp: waitMs, mqtt: waitMs, http: waitMs, udp: 0 },
  })
  return made
}

function placeOf(part: Part): string {
  return 'lane' in part ? part.lane : `${part.held} ${part.device}`
}

interface GatewayOptions {
  readonly limits: Partial<Shared['limits']>
  readonly pressure: Shared['pressure']
  readonly admitsUnknown: boolean
  /** How long a frame waits until it can be stored. */
  readonly waitMs: number
  readonly maxUnknownDevices: number
  readonly holdsSuspicious: boolean
  readonly ingest: Gateway['ingest']
  readonly flood: Flood
  readonly detector: Shared['detector']
  readonly trails: Trails
  /** In place of one that keeps nothing. */
  readonly journal: Shared['journal']
  /** Default: no day is noted. */
  readonly days: JournalOptions['days']
  /** Default: the usual ones. */
  readonly listeners: JournalOptions['listeners']
  /** In place of memory. */
  readonly frameStore: Pick<FrameStore, 'keep'>
}

/** Closes a listener when the test is over. */
export async function open(listener: Promise<Listener>): Promise<Listener> {
  const opened = await listener
  onTestFinished(() => opened.close())
  return opened
}

/** The other end of a TCP connection. */
export interface Peer {
  readonly socket: Socket
  /** All that has arrived, a character a byte. */
  readonly heard: string
  /** Whether the connection is over. */
  readonly over: boolean
  say(text: string | Buffer): void
}

/** `from`: the address of loopback that it comes from, so that it is of another network than `127.0.0.1`. */
export async function dial(port: number, from = '127.0.0.1'): Promise<Peer> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true, noDelay: true })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  let over = false
  socket.on('data', (bytes) => (heard += bytes.toString('latin1')))
  socket.on('end', () => (over = true))
  socket.on('close', () => (over = true))
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.on('error', () => {})
  return {
    socket,
    get heard() {
      return heard
    },
    get over() {
      return over
    },
    say: (text) => void socket.write(text),
  }
}

/** Waits until something is so that only what arrives on a connection, or its end, can change. */
export async function untilHeard({ socket }: Pick<Peer, 'socket'>, isSo: () => boolean): Promise<void> {
  if (isSo()) return
  await new Promise<void>((resolve) => {
    const look = () => isSo() && resolve()
    socket.on('data', look).on('end', look).on('close', look)
  })
}

/** Waits until an assertion holds, at most a minute. */
export async function until(assertion: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(assertion, { timeout: 60_000, interval: 5 })
}

/**
 * Stops the time by which connections are silent, until the test ends: `performance.now()` and intervals. Returns a function
 * that lets so many ms pass. `until` lets 5 ms pass each time that it looks.
 */
export function stopTime(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return async (ms) => void (await vi.advanceTimersByTimeAsync(ms))
}

/** The value of a counter or gauge with these labels; 0 if nothing was counted. */
export async function count(name: string, labels: Record<string, string> = {}): Promise<number> {
  const metric = await registry.getSingleMetric(`waybridge_${name}`)?.get()
  const matches = metric?.values.filter((each) =>
    Object.entries(labels).every(([key, value]) => each.labels[key] === value),
  )
  return matches?.reduce((sum, { value }) => sum + value, 0) ?? 0
}

export function openConnections(transport: 'tcp' | 'http' | 'mqtt'): Promise<number> {
  return count('connections', { transport })
}

/** By how much `refused_total{reason}` grows from now on. */
export async function refusals(reason: string): Promise<() => Promise<number>> {
  const before = await count('refused_total', { reason })
  return async () => (await count('refused_total', { reason })) - before
}
