import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FindingCode } from '../../src/diagnose/codes.ts'
import { ok } from '../rig/api.ts'
import { avlDatagram, gt06Frame, gt06Gps } from '../support/encode.ts'
import { signal, untilSo } from '../support/processes.ts'
import type { Fault } from './fault.ts'
import { answering, edit, editing, refusing, repeating, SOON } from './injections.ts'
import { datagram, gt06Login, nowS, osmand } from './senders.ts'
import { FLEET, OWN, type Site, STRANGER, UNROUTED } from './site.ts'

const HOUR_S = 3600
const REFUSED = '356307042441982'

/** Devices, settings, copies and the roster, at the first site. */
export const FURTHER: readonly Fault[] = [
  {
    what: 'a device comes from a network that its entry does not allow, until it does',
    code: 'not_permitted',
    van: OWN[8],
    endsS: 5,
    says: /Own 9 came in a way that devices\.yaml does not allow/,
    never: /secret/,
    async begin(site) {
      const allowed = await editing(site, 'devices.yaml', (yaml) =>
        yaml.replace(/route_id: 2059/, 'route_id: 2059, networks: ["192.0.2.0/24"]'),
      )
      const send = () => osmand(site, OWN[8])
      const mend = await repeating(send, send)(site)
      return async () => {
        await allowed()
        await mend(site)
      }
    },
  },
  {
    what: 'somebody guesses the secret of a device that has never presented it',
    code: 'guessing',
    van: OWN[9],
    dueS: 6,
    endsS: 60,
    also: ['wrong_secret'],
    says: /guesses the secret of Own 10.*127\.0\.0\.0\/24/,
    async begin(site) {
      const open = await editing(site, 'devices.yaml', (yaml) =>
        yaml.replace(/route_id: 2060/, 'route_id: 2060, secret: canary-secret-10'),
      )
      let guess = 0
      const mend = await repeating(
        () => osmand(site, OWN[9], { token: `guessed-${++guess}` }),
        async () => {},
      )(site)
      return async () => {
        await mend(site)
        await open()
      }
    },
  },
  {
    what: 'a tracker says that its power is cut, until it says that it is back',
    code: 'power_cut',
    van: OWN[11],
    never: /battery of|SOS/,
    begin: alarming(OWN[11], { alarm: 'powerCut' }, { alarm: 'powerRestored' }),
  },
  {
    what: 'a tracker says that its battery is low, until it is charged',
    code: 'battery_low',
    van: OWN[11],
    never: /power of|SOS/,
    begin: alarming(OWN[11], { alarm: 'lowBattery' }, { batt: 80 }),
  },
  {
    what: 'unconfigured devices are admitted, until the window is closed',
    code: 'enrolment_open',
    dueS: 5,
    endsS: 5,
    async begin({ product }) {
      await product.admin('/admin/enrolment?for=10m', { method: 'POST' })
      return () => product.admin('/admin/enrolment', { method: 'DELETE' })
    },
  },
  {
    what: 'a new certificate cannot be read, until it can',
    code: 'certificate_refused',
    dueS: 5,
    endsS: 5,
    says: /broker\.pem/,
    never: /ends soon/,
    async begin({ certificates }) {
      const { cert } = (await certificates.server('broker')).files
      await writeFile(cert, 'no certificate')
      return () => certificates.server('broker')
    },
  },
  {
    what: 'Redis has no maxmemory',
    code: 'redis_unlimited',
    dueS: 10,
    endsS: 10,
    never: /redis_full|stop mark/,
    async begin({ command }) {
      await command('CONFIG', 'SET', 'maxmemory', '0')
      return () => command('CONFIG', 'SET', 'maxmemory', '268435456')
    },
  },
  {
    what: 'the gateway is held for two seconds at a time',
    code: 'event_loop_delay',
    dueS: 3,
    endsS: 10,
    says: /gateway.* reacts late/,
    never: /no_gateway/,
    async begin({ product }) {
      const [pid] = product.pidsOf('gateway')
      const hold = async () => {
        signal(pid, 'SIGSTOP')
        await pause(2000)
        signal(pid, 'SIGCONT')
      }
      await hold()
      let held = Promise.resolve()
      const timer = setInterval(() => void (held = hold()), 4000)
      return () => {
        clearInterval(timer)
        return held
      }
    },
  },
  {
    what: 'the receiver of a copy answers 500, until it takes what it gets',
    code: 'copy_failing',
    dueS: 15,
    endsS: 5,
    says: /the copy crm does not reach its receiver.*500/,
    never: /copy_full|copy_refused|parked/,
    begin: copying((_request, response) => response.writeHead(500).end()),
  },
  {
    what: 'the receiver of a copy refuses the positions of one device (422), until it takes them',
    code: 'copy_refused',
    dueS: 5,
    endsS: 5,
    says: /the receiver of the copy crm refuses positions: they are parked.*it answers 422: no such van/,
    never: /copy_failing|copy_full/,
    begin: copying((body, response) =>
      body.includes(FLEET[1]) ? response.writeHead(422).end('no such van') : response.writeHead(204).end(),
    ),
  },
  {
    what: 'more waits for a copy than it may keep, until it is taken out of gateway.yaml',
    code: 'copy_full',
    dueS: 15,
    endsS: 60,
    also: ['copy_failing'],
    says: /so much waits for the copy crm that the oldest positions are discarded/,
    async begin(site) {
      await copying((_request, response) => response.writeHead(500).end(), ', max_waiting: 5')(site)
      return () => edit(site, 'gateway.yaml', (yaml) => yaml.replace(/^copies:.*\n/m, ''))
    },
  },
  {
    what: 'the API has lost what it took, until it has it again',
    code: 'missing_at_api',
    // What is not there is read once more after `verify.after`, two minutes.
    dueS: 120,
    endsS: 10,
    says: /the tracking API does not have 1 position of company 7 that it took, on 1 route/,
    never: /lane_refused|positions_refused|upstream/,
    async begin(site) {
      const { api, product } = site
      const hourAgo = nowS() - HOUR_S
      await osmand(site, OWN[12], { timestamp: hourAgo })
      await untilSo(() => api.timestampsOf('63/2063').includes(hourAgo), SOON)
      const day = new Date(hourAgo * 1000).toISOString().slice(0, 10)
      const verify = () => product.admin(`/admin/verify?route_id=2063&day=${day}`, { method: 'POST' })
      const mend = await answering((request, response) => ok({ ...request, has: [] }, response))(site)
      void verify().catch(() => {})
      return async () => {
        await mend(site)
        await verify()
      }
    },
  },
  {
    what: 'a device sends from where it cannot be, after six minutes on its track',
    code: 'impossible_move',
    van: OWN[10],
    at: 'long',
    dueS: 5,
    endsS: 60,
    also: ['silent', 'gps_old'],
    says: /Own 11 moved faster than a vehicle can/,
    async begin(site) {
      const driving = setInterval(() => void osmand(site, OWN[10]).catch(() => {}), 5000)
      await pause(360_000)
      clearInterval(driving)
      return repeating(
        () => osmand(site, OWN[10], { lat: 48.1 + Math.random() / 1000 }),
        () => osmand(site, OWN[10]),
      )(site)
    },
  },
  {
    what: 'a file puts a time that was delivered on another route, until it is put right',
    code: 'redelivery_offered',
    dueS: 10,
    endsS: 10,
    says: /positions of Van 1 went to another route than the roster says now.*by lines that routes\.csv has replaced/,
    never: /roster_rejected|roster_stale|Van [2-4]/,
    async begin({ product }) {
      const [from, until] = [90, 30].map((ago) => new Date((nowS() - ago) * 1000).toISOString())
      const head = 'device,courier_id,route_id,from,until\n'
      await product.write('routes.csv', `${head}${FLEET[0]},1,3001,${from},${until}\n`)
      return () => product.write('routes.csv', head)
    },
  },
]

/** Where all bounds are low. */
export const BOUNDS: readonly Fault[] = [
  {
    what: 'a receiver of alerts answers 500, until it takes them',
    code: 'alert_failed',
    at: 'bounds',
    dueS: 30,
    endsS: 30,
    also: ['enrolment_open'],
    says: /alerts\.webhooks\[1\].* is not told of findings.*500/,
    never: /alerts\.webhooks\[0\]/,
    async begin(site) {
      const { api, product } = site
      // Only what is pushed and read back names a route.
      api.respond((request, response) =>
        (request.lane === 'undefined/undefined' ? refusing(500) : ok)(request, response),
      )
      await product.admin('/admin/enrolment?for=10m', { method: 'POST' })
      return async () => {
        api.respond(ok)
        await product.admin('/admin/enrolment', { method: 'DELETE' })
      }
    },
  },
  {
    what: 'more fixes of a device are held than may be',
    code: 'held_full',
    at: 'bounds',
    van: OWN[9],
    dueS: 8,
    endsS: 60,
    also: ['clock_ahead', 'held_too_long'],
    says: /so many fixes of Own 10 are held that the oldest are discarded/,
    never: /Own 9/,
    begin: repeating(
      (site) => {
        const ahead = [0, 1, 2, 3].map((hour) => nowS() + (hour + 1) * HOUR_S)
        return Promise.all(ahead.map((timestamp) => osmand(site, OWN[9], { timestamp })))
      },
      (site) => osmand(site, OWN[9]),
    ),
  },
  {
    what: 'more devices of one network that nobody has configured send than may be held of one: a tenth of 20',
    code: 'unknown_refused',
    at: 'bounds',
    dueS: 5,
    endsS: 60,
    also: ['unknown_device'],
    async begin(site) {
      await Promise.all([osmand(site, STRANGER), osmand(site, UNROUTED)])
      const mend = await repeating(
        () => osmand(site, REFUSED),
        async () => {},
      )(site)
      return async () => {
        await mend(site)
        const entries = [STRANGER, UNROUTED].map(
          (id, index) =>
            `"${id}": { name: New ${index}, company_id: 7, courier_id: ${90 + index}, route_id: ${2090 + index} }\n`,
        )
        await edit(site, 'devices.yaml', (yaml) => yaml + entries.join(''))
      }
    },
  },
  {
    what: 'more positions are parked than may be, until they are retried',
    code: 'parked_full',
    at: 'bounds',
    dueS: 15,
    endsS: 15,
    also: ['positions_refused', 'not_stored'],
    begin: refusingCourier,
  },
  {
    what: 'a device is not acknowledged, as too many of its positions are parked',
    code: 'not_stored',
    at: 'bounds',
    dueS: 20,
    endsS: 15,
    also: ['positions_refused', 'parked_full'],
    says: /parked/,
    begin: refusingCourier,
  },
  {
    what: 'more connections use the id of a device than may be open',
    code: 'device_connections',
    at: 'bounds',
    van: OWN[13],
    dueS: 5,
    endsS: 60,
    also: ['claimed_twice'],
    says: /more connections than limits\.max_connections_per_device use the id of Own 14/,
    async begin({ product: { ports } }) {
      const sockets: Socket[] = []
      for (let opened = 0; opened < 4; opened++) {
        const socket = connect(ports['tcp/gt06'], '127.0.0.1').on('error', () => {})
        sockets.push(socket)
        socket.write(Buffer.concat([gt06Login(OWN[13]), gt06Position()]))
        await pause(200)
      }
      return () => sockets.forEach((socket) => socket.destroy())
    },
  },
  {
    what: 'all connections that may be open are',
    code: 'connections_full',
    at: 'bounds',
    dueS: 5,
    endsS: 10,
    also: ['one_address', 'flood'],
    says: /the limit of open connections is reached/,
    begin: ({ product: { ports } }) => crowding(ports['tcp/gt06'], 70),
  },
  {
    what: 'more than 50 connections come from one address, and none from another',
    code: 'one_address',
    at: 'bounds',
    dueS: 10,
    endsS: 60,
    also: ['connections_full', 'flood'],
    says: /\d\d connections from 127\.0\.0\.1/,
    begin: ({ product: { ports } }) => crowding(ports['tcp/h02'], 53),
  },
  {
    what: 'a connection sends 300 frames that name no device',
    code: 'flood',
    at: 'bounds',
    dueS: 5,
    endsS: 10,
    says: /senders take more than their share.*more than the limit of connection/,
    never: /no_id/,
    async begin({ product: { ports } }) {
      const sockets: Socket[] = []
      const send = () => {
        const socket = connect(ports['tcp/gt06'], '127.0.0.1').on('error', () => {})
        sockets.push(socket)
        socket.write(Buffer.concat(Array.from({ length: 300 }, gt06Heartbeat)))
      }
      send()
      const timer = setInterval(send, 3000)
      return () => {
        clearInterval(timer)
        sockets.forEach((socket) => socket.destroy())
      }
    },
  },
  {
    what: 'a fix from the future is held for as long as it may be',
    code: 'held_too_long',
    at: 'bounds',
    van: OWN[8],
    dueS: 60,
    // What is held still is discarded as well, half a minute later.
    endsS: 90,
    also: ['clock_ahead'],
    says: /fixes of Own 9 were held for as long as hold\.max_age, and are discarded/,
    // Of more than three the oldest would be discarded at once.
    async begin(site) {
      await osmand(site, OWN[8], { timestamp: nowS() + HOUR_S })
      const send = () => osmand(site, OWN[8])
      return repeating(send, send)(site)
    },
  },
  {
    what: 'all requests that may be under way are, and lanes wait',
    code: 'push_full',
    at: 'bounds',
    dueS: 30,
    endsS: 10,
    never: /upstream_hanging|upstream_down|lane_/,
    async begin(site) {
      const mend = await answering((request, response) => void setTimeout(() => ok(request, response), 2500))(site)
      const send = () => Promise.all(OWN.slice(0, 8).map((id) => osmand(site, id))).catch(() => {})
      const timer = setInterval(() => void send(), 1000)
      return () => {
        clearInterval(timer)
        return mend(site)
      }
    },
  },
  {
    what: 'a driver presses the SOS button',
    code: 'sos',
    at: 'bounds',
    van: OWN[11],
    endsLater: 'after an hour: diagnose/devices',
    says: /SOS from Own 12/,
    never: /jammed/,
    begin: alarming(OWN[11], { alarm: 'sos' }, {}),
  },
  {
    what: 'a tracker says that it is jammed',
    code: 'jammed',
    at: 'bounds',
    van: OWN[12],
    endsLater: 'after an hour: diagnose/devices',
    also: ['sos'],
    begin: alarming(OWN[12], { alarm: 'jamming' }, {}),
  },
  {
    what: 'delivered fixes take all the memory that they may',
    code: 'keep_full',
    at: 'bounds',
    dueS: 60,
    endsLater: 'after 48 hours: store/kept-fixes',
    also: ['sos', 'jammed', 'backlog'],
    says: /delivered fixes are kept for \d+ h only: they take as much memory as they may/,
    async begin(site) {
      for (const id of OWN)
        for (let day = 2; day >= 0; day--) {
          const hours = Array.from({ length: 24 }, (_, hour) => day * 24 + 23 - hour)
          const records = hours.map((hour) => ({
            time: (nowS() - hour * HOUR_S) * 1000,
            latitude: 52.5,
            longitude: 13.4,
            satellites: 9,
          }))
          await datagram(site, avlDatagram(id, 0x08, records))
          await pause(50)
        }
      return () => {}
    },
  },
]

/** The test of each finding that no fault here causes, and why none does. */
export const TESTED_ELSEWHERE = {
  slow_script: ['store/slow-script', 'needs calls each of which is slow'],
  own_clock: ['process/docker', 'needs a machine with another clock'],
  marks_full: ['store/duplicates', 'needs thousands of fixes of one second'],
  guesses_refused: ['gateway/wire/guess-budget', 'needs a tenth of a gateway'],
  open_files: ['gateway/admit/connection-limits', 'needs another limit of the process'],
  port_taken: ['e2e/usual-ports', 'needs the usual ports'],
  bridge_down: ['e2e/bridge', 'needs a broker'],
  replicas_missing: ['diagnose/codes', 'needs replicas'],
  custody_difference: ['admin/metrics', 'needs a fault of ours'],
} as const satisfies Partial<Record<FindingCode, readonly [test: string, why: string]>>

/** Sends an alarm, then what takes it back. */
function alarming(id: string, alarm: Readonly<Record<string, string | number>>, over: typeof alarm): Fault['begin'] {
  return async (site) => {
    await osmand(site, id, alarm)
    return async () => {
      // Times have seconds: what takes it back is later.
      await pause(1100)
      await osmand(site, id, over)
    }
  }
}

type Answer = (body: string, response: ServerResponse) => unknown

/** Has a copy sent to a receiver that answers so; it takes all once mended, and the copy ends with the next fault. */
function copying(answer: Answer, more = ''): Fault['begin'] {
  return async (site) => {
    let isWell = false
    const answered = async (request: IncomingMessage, response: ServerResponse) => {
      const body = Buffer.concat(await request.toArray()).toString()
      if (isWell) response.writeHead(204).end()
      else answer(body, response)
    }
    const server = createServer((request, response) => void answered(request, response).catch(() => {}))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await edit(
      site,
      'gateway.yaml',
      (yaml) => `${yaml.replace(/^copies:.*\n/m, '')}copies: [{ name: crm, to: "${to}"${more} }]\n`,
    )
    server.unref()
    return async () => {
      isWell = true
      await site.product.admin('/admin/copies/retry?copy=crm', { method: 'POST' })
    }
  }
}

async function refusingCourier(site: Site) {
  const mend = await answering((request, response) =>
    (request.courier === '2' ? refusing(422) : ok)(request, response),
  )(site)
  return async () => {
    await mend(site)
    await site.product.admin('/admin/parked/retry?courier_id=2', { method: 'POST' })
  }
}

/** Holds connections open that say nothing. */
async function crowding(port: number, count: number) {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const timer = setInterval(() => sockets.push(connect(port, '127.0.0.1').on('error', () => {})), 2000)
  return () => {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

function gt06Heartbeat(): Buffer {
  return gt06Frame(0x13, Buffer.from('4604060001', 'hex'))
}

function gt06Position(): Buffer {
  const date = new Date().toISOString().slice(2, 19).replaceAll(/\D/g, '')
  return gt06Frame(0x12, gt06Gps({ date, latitude: 52.5, longitude: 13.4, speed: 0 }))
}
