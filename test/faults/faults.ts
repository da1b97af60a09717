import { setTimeout as pause } from 'node:timers/promises'
import type { FindingCode } from '../../src/diagnose/codes.ts'
import { COMPANY, dial } from '../support/product.ts'
import { gt06Frame, gt06Gps } from '../support/encode.ts'
import { signal } from '../support/processes.ts'
import { answering, type Behaviour, well } from './api.ts'
import { GUARDED, OWN, type Site } from './site.ts'

/** Something that breaks, and the finding that names it. */
export interface Fault {
  readonly what: string
  readonly code: FindingCode
  /** After how many seconds the finding is due, as src/diagnose/README.md says. */
  readonly dueS: number
  /** After how many seconds it is due to end, once the cause is gone. */
  readonly endsS: number
  /** Whether `npm test` injects it; `npm run faults` injects all. */
  readonly isQuick?: true
  /** Breaks it; answers how it is mended. */
  readonly begin: (site: Site) => Promise<() => unknown>
}

/** In this order: what takes long to recover comes late. */
export const FAULTS: readonly Fault[] = [
  { what: 'the API answers 500', code: 'upstream_down', dueS: 0, endsS: 0, begin: behaving(answering(500)) },
  {
    what: 'the API refuses connections',
    code: 'upstream_down',
    dueS: 0,
    endsS: 0,
    isQuick: true,
    async begin({ api }) {
      await api.refuse()
      return api.open
    },
  },
  { what: 'the API hangs', code: 'upstream_hanging', dueS: 15, endsS: 0, begin: behaving(() => {}) },
  {
    what: 'the API takes 8 s for each request',
    code: 'upstream_slow',
    dueS: 5,
    endsS: 0,
    begin: behaving((request, response) => void setTimeout(() => well(request, response), 8000)),
  },
  { what: 'the API answers 429', code: 'upstream_limited', dueS: 0, endsS: 0, begin: behaving(answering(429)) },
  {
    what: 'the API refuses single positions (422)',
    code: 'positions_refused',
    dueS: 0,
    endsS: 10,
    isQuick: true,
    begin: behaving((request, response) =>
      (request.courier === '1' && request.timestamps.some((time) => time % 3 === 0) ? answering(422) : well)(
        request,
        response,
      ),
    ),
  },
  {
    what: 'the API refuses the lanes of a courier (404); retried by hand once it takes them',
    code: 'lane_refused',
    dueS: 0,
    endsS: 0,
    async begin(site) {
      const mend = await behaving((request, response) =>
        (request.courier === '2' ? answering(404) : well)(request, response),
      )(site)
      return async () => {
        mend()
        await site.product.admin('/admin/parked/retry?courier_id=2', { method: 'POST' })
      }
    },
  },
  {
    what: 'the API refuses the apikey (403), until gateway.yaml has the new one',
    code: 'apikey_refused',
    dueS: 0,
    endsS: 0,
    isQuick: true,
    async begin(site) {
      site.api.behave((request, response) => (request.apikey === 'next' ? well : answering(403))(request, response))
      return () => edit(site, 'gateway.yaml', (yaml) => yaml.replace(`apikey: ${COMPANY.apikey}`, 'apikey: next'))
    },
  },
  {
    what: 'the API refuses the OAuth token (401)',
    code: 'token_refused',
    dueS: 0,
    endsS: 0,
    async begin(site) {
      const path = `/api/v2/companies/7/routes/1001/courier-positions?from=0&to=1`
      const mend = await behaving((request, response) =>
        (request.courier === undefined ? answering(401) : well)(request, response),
      )(site)
      await site.product.admin(path)
      return async () => {
        mend()
        await site.product.admin(path)
      }
    },
  },
  { what: 'a worker is frozen (SIGSTOP)', code: 'worker_stuck', dueS: 10, endsS: 0, begin: freezing('worker', 1) },
  { what: 'all workers are frozen', code: 'no_worker', dueS: 10, endsS: 0, begin: freezing('worker', 2) },
  { what: 'the gateway is frozen', code: 'no_gateway', dueS: 10, endsS: 0, begin: freezing('gateway', 1) },
  {
    what: 'Redis is frozen (SIGSTOP)',
    code: 'redis_down',
    dueS: 2,
    endsS: 0,
    isQuick: true,
    async begin({ redis }) {
      await redis.kill('SIGSTOP')
      return () => redis.kill('SIGCONT')
    },
  },
  {
    what: 'Redis is killed',
    code: 'redis_down',
    dueS: 0,
    endsS: 0,
    async begin({ redis }) {
      await redis.kill('SIGKILL')
      return () => redis.restart()
    },
  },
  {
    what: 'the memory of Redis is full',
    code: 'redis_full',
    dueS: 0,
    endsS: 0,
    async begin({ command }) {
      const used = /^used_memory:(\d+)/m.exec(String(await command('INFO', 'memory')))?.[1]
      await command('CONFIG', 'SET', 'maxmemory', String(Math.round(Number(used) * 1.05)))
      return () => command('CONFIG', 'SET', 'maxmemory', '268435456')
    },
  },
  {
    what: 'Redis does not write through (appendfsync everysec)',
    code: 'redis_unsafe',
    dueS: 10,
    endsS: 10,
    async begin({ command }) {
      await command('CONFIG', 'SET', 'appendfsync', 'everysec')
      return () => command('CONFIG', 'SET', 'appendfsync', 'always')
    },
  },
  {
    what: 'a tracker sends to the port of another protocol',
    code: 'wrong_port',
    dueS: 0,
    endsS: 0,
    begin: repeating(
      ({ product: { ports } }) => h02(ports['tcp/gt06']),
      ({ product: { ports } }) => h02(ports['tcp/h02']),
    ),
  },
  {
    what: 'a device presents a wrong secret',
    code: 'wrong_secret',
    dueS: 0,
    endsS: 0,
    isQuick: true,
    begin: repeating(
      (site) => osmand(site, GUARDED.id, { token: 'guessed' }),
      (site) => osmand(site, GUARDED.id, { token: GUARDED.secret }),
    ),
  },
  {
    what: 'the clock of a device is an hour ahead',
    code: 'clock_ahead',
    dueS: 0,
    endsS: 0,
    begin: repeating(
      (site) => osmand(site, OWN[1], { timestamp: nowS() + 3600 }),
      (site) => osmand(site, OWN[1]),
    ),
  },
  {
    what: 'frames of a device are not understood',
    code: 'not_understood',
    dueS: 0,
    endsS: 0,
    begin: repeating(
      ({ product: { ports } }) => wialon(ports['tcp/wialon'], 'Q'),
      ({ product: { ports } }) => wialon(ports['tcp/wialon'], 'N'),
    ),
  },
  {
    what: 'frames of a device have a wrong checksum',
    code: 'checksum_errors',
    dueS: 3,
    endsS: 0,
    begin: repeating(
      ({ product: { ports } }) => gt06(ports['tcp/gt06'], true),
      ({ product: { ports } }) => gt06(ports['tcp/gt06'], false),
    ),
  },
  {
    what: 'the clock of a device is two hours behind: local time',
    code: 'clock_behind',
    dueS: 30,
    endsS: 0,
    begin: repeating(
      (site) => osmand(site, OWN[0], { timestamp: nowS() - 7200 }),
      (site) => osmand(site, OWN[0]),
    ),
  },
  {
    what: 'a device that nobody has configured sends, until it is in devices.yaml',
    code: 'unknown_device',
    dueS: 0,
    endsS: 0,
    isQuick: true,
    async begin(site) {
      await osmand(site, STRANGER)
      const entry = `"${STRANGER}": { name: New, company_id: 7, courier_id: 90, route_id: 2090 }\n`
      return () => edit(site, 'devices.yaml', (yaml) => yaml + entry)
    },
  },
  {
    what: 'a device without a route sends, until it has one',
    code: 'no_route',
    dueS: 0,
    endsS: 0,
    async begin(site) {
      const [without, withRoute] = ['', ', route_id: 2091'].map(
        (more) => `"${UNROUTED}": { name: Unrouted, company_id: 7, courier_id: 91${more} }\n`,
      )
      await edit(site, 'devices.yaml', (yaml) => yaml + without)
      const timer = setInterval(() => void osmand(site, UNROUTED).catch(() => {}), 1000)
      return async () => {
        clearInterval(timer)
        await edit(site, 'devices.yaml', (yaml) => yaml.replace(without, withRoute))
      }
    },
  },
  {
    what: 'two vans send on one route, until one has another',
    code: 'two_on_route',
    dueS: 0,
    endsS: 0,
    async begin(site) {
      const send = () => Promise.all([osmand(site, OWN[0]), osmand(site, OWN[1])]).catch(() => {})
      const timer = setInterval(() => void send(), 1000)
      await edit(site, 'devices.yaml', (yaml) => yaml.replace('route_id: 2052', 'route_id: 2051'))
      return async () => {
        clearInterval(timer)
        await edit(site, 'devices.yaml', (yaml) =>
          yaml.replace('courier_id: 52, route_id: 2051', 'courier_id: 52, route_id: 2052'),
        )
      }
    },
  },
  {
    what: 'a worker ends again and again (SIGKILL, three times)',
    code: 'restarting',
    dueS: 0,
    endsS: 10,
    async begin({ product }) {
      for (let kills = 0; kills < 3; kills++) {
        // The one that was started last is the one that was killed last.
        const worker = Math.max(...(await started(() => product.pidsOf('worker'))))
        signal(worker, 'SIGKILL')
        const deadline = performance.now() + 30_000
        while (product.pidsOf('worker').includes(worker) && performance.now() < deadline) await pause(20)
      }
      return () => {}
    },
  },
]

function behaving(behaviour: Behaviour): Fault['begin'] {
  return async ({ api }) => {
    api.behave(behaviour)
    return () => {
      api.behave(well)
      api.cut()
    }
  }
}

function freezing(role: string, count: number): Fault['begin'] {
  return async ({ product }) => {
    const pids = product.pidsOf(role).slice(0, count)
    for (const pid of pids) signal(pid, 'SIGSTOP')
    return () => pids.forEach((pid) => signal(pid, 'SIGCONT'))
  }
}

/** Sends what is wrong each second; then what is right. */
function repeating(wrong: (site: Site) => Promise<unknown>, right: (site: Site) => Promise<unknown>): Fault['begin'] {
  return async (site) => {
    const timer = setInterval(() => void wrong(site).catch(() => {}), 1000)
    await wrong(site)
    return () => {
      clearInterval(timer)
      const sending = setInterval(() => void right(site).catch(() => {}), 1000)
      setTimeout(() => clearInterval(sending), 8000)
    }
  }
}

async function edit({ product }: Site, file: string, change: (yaml: string) => string): Promise<void> {
  await product.write(file, change(await product.read(file)))
}

async function started(pids: () => number[]): Promise<number[]> {
  const deadline = performance.now() + 30_000
  while (pids().length < 2 && performance.now() < deadline) await pause(20)
  return pids()
}

async function osmand(
  { product: { ports } }: Site,
  id: string,
  more: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const fields = { id, lat: 52.5 + Math.random() / 1000, lon: 13.4, timestamp: nowS(), ...more }
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) query.set(key, String(value))
  await (await fetch(`http://127.0.0.1:${ports['http/osmand']}/?${query.toString()}`)).text()
}

async function h02(port: number): Promise<void> {
  const [date, time] = new Date().toISOString().split('T')
  const day = date.slice(2).split('-').toReversed().join('')
  await say(
    port,
    `*HQ,${OWN[2]},V1,${time.slice(0, 8).replaceAll(':', '')},A,5230.0000,N,01324.0000,E,000.0,000,${day},FFFFFFFF#`,
  )
}

async function wialon(port: number, hemisphere: string): Promise<void> {
  const [date, time] = new Date().toISOString().split('T')
  const when = `${date.slice(2).split('-').toReversed().join('')};${time.slice(0, 8).replaceAll(':', '')}`
  const record = (of: string) => `${when};5230.0000;${of};01324.0000;E;0;0;30;9`
  await say(port, `#L#${OWN[3]};NA\r\n#B#${record('N')}|${record(hemisphere)}\r\n`)
}

/** A login and a position, whose checksum is damaged or not. */
async function gt06(port: number, isDamaged: boolean): Promise<void> {
  const date = new Date().toISOString().slice(2, 19).replaceAll(/\D/g, '')
  const position = gt06Frame(0x12, gt06Gps({ date, latitude: 52.5, longitude: 13.4, speed: 0 }))
  // The checksum is before the two bytes that end the frame.
  if (isDamaged) position[position.length - 4] ^= 0xff
  await say(port, Buffer.concat([gt06Frame(0x01, Buffer.from(`0${OWN[4]}`, 'hex')), position]))
}

/** Sends it over a connection of its own, which stays open for a moment for the answer. */
async function say(port: number, bytes: Buffer | string): Promise<void> {
  const { socket } = await dial(port)
  socket.write(bytes)
  setTimeout(() => socket.destroy(), 900)
}

const STRANGER = '356307042441980'
const UNROUTED = '356307042441981'

function nowS(): number {
  return Math.floor(Date.now() / 1000)
}
