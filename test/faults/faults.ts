import { execFile } from 'node:child_process'
import { rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FindingCode } from '../../src/diagnose/codes.ts'
import { ok } from '../rig/api.ts'
import { COMPANY, startProduct } from '../rig/product.ts'
import { signal, untilSo } from '../support/processes.ts'
import { securePort } from '../support/secure-port.ts'
import type { Fault } from './fault.ts'
import { BOUNDS, FURTHER } from './further.ts'
import { answering, edit, editing, refusing, repeating, says, SOON } from './injections.ts'
import { gt06, gt06Unnamed, h02, nowS, osmand, plain, teltonika, wialon } from './senders.ts'
import { FLEET, GUARDED, LARGE_FLEET, OWN, type Site, STRANGER, settings, TYPED, UNROUTED, WAVES } from './site.ts'

/** What a busy machine may cause besides. */
export const ALWAYS_TRUE: ReadonlySet<FindingCode> = new Set(['event_loop_delay', 'slow_script'])

const ABOUT_THE_API: readonly FindingCode[] = [
  'upstream_hanging',
  'upstream_slow',
  'upstream_down',
  'upstream_limited',
  'backlog',
]

/** Findings with one of these codes. */
function findings(...codes: readonly FindingCode[]): RegExp {
  return new RegExp(`"code":"(${codes.join('|')})"`)
}

/** A finding with this code about this device. */
function about(code: FindingCode, device: string): RegExp {
  return new RegExp(`"code":"${code}".*"device":"${device}"`)
}

/** In this order: what takes long to recover comes late. */
export const FAULTS: readonly Fault[] = [
  { what: 'the API answers 500', code: 'upstream_down', van: FLEET[0], begin: answering(refusing(500)) },
  {
    what: 'the API refuses connections',
    code: 'upstream_down',
    van: FLEET[0],
    isQuick: true,
    async begin({ api }) {
      await api.close()
      return api.open
    },
  },
  {
    what: 'a login page answers in place of the API (200, text/html)',
    code: 'not_the_api',
    van: FLEET[0],
    isQuick: true,
    begin: answering(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in'),
    ),
  },
  {
    what: 'a redirect answers in place of the API (302)',
    code: 'not_the_api',
    van: FLEET[0],
    begin: answering((_request, response) => void response.writeHead(302, { location: 'http://login.example/' }).end()),
  },
  {
    what: 'the API speaks HTTPS alone, and is asked without: it cuts connections',
    code: 'upstream_down',
    van: FLEET[0],
    says: /speaks HTTPS, and is asked without.*write https:/,
    never: /answers 400|correct the courier/,
    begin: withTls('cuts'),
  },
  {
    what: 'the API speaks HTTPS alone, and is asked without: it answers 400 with a page, as nginx does',
    code: 'upstream_down',
    van: FLEET[0],
    isQuick: true,
    says: /speaks HTTPS, and is asked without.*write https:/,
    never: /answers 400|correct the courier|cuts connections/,
    begin: withTls('<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>'),
  },
  {
    what: 'the API speaks HTTPS alone, and is asked without: it answers 400 with a line, as Go does',
    code: 'upstream_down',
    van: FLEET[0],
    says: /speaks HTTPS, and is asked without.*write https:/,
    never: /answers 400|correct the courier|cuts connections/,
    begin: withTls('Client sent an HTTP request to an HTTPS server.\n'),
  },
  {
    what: 'the API does not speak HTTPS, and is asked with it',
    code: 'upstream_down',
    van: FLEET[0],
    at: 'tls',
    says: /does not speak HTTPS at that port.*its port, or http:/,
    never: /certificate/,
    async begin({ api }) {
      return api.replace(createServer((_request, response) => response.end('{}')))
    },
  },
  {
    what: 'the certificate of the API is of an authority that nobody has named',
    code: 'upstream_down',
    van: FLEET[0],
    at: 'tls',
    says: /of an authority that is not trusted.*tracking\.tls\.ca/,
    never: /renew the certificate|does not speak HTTPS/,
    async begin({ api, certificates }) {
      const other = await certificates.authority('other')
      api.certify(await certificates.server('foreign', { by: other }))
      return async () => {
        const authority = certificates.issued('authority')
        api.certify(await certificates.server('api', { by: authority }))
      }
    },
  },
  {
    what: 'the certificate of the API is for another host',
    code: 'upstream_down',
    van: FLEET[0],
    at: 'tls',
    says: /has a certificate that is not accepted.*renew the certificate of the API, or correct tracking\.base_url/,
    never: /tracking\.tls\.ca|does not speak HTTPS/,
    async begin({ api, certificates }) {
      const authority = certificates.issued('authority')
      api.certify(await certificates.server('foreign', { by: authority, san: 'DNS:elsewhere.example' }))
      return async () => api.certify(await certificates.server('api', { by: authority }))
    },
  },
  {
    what: 'the API hangs',
    code: 'upstream_hanging',
    van: FLEET[0],
    dueS: 15,
    // Until then it may only be slow.
    also: ['upstream_slow'],
    begin: answering(() => {}),
  },
  {
    what: 'the API takes 8 s for each request',
    code: 'upstream_slow',
    van: FLEET[0],
    dueS: 5,
    begin: answering((request, response) => void setTimeout(() => ok(request, response), 8000)),
  },
  { what: 'the API answers 429', code: 'upstream_limited', van: FLEET[0], begin: answering(refusing(429)) },
  {
    what: 'the API refuses single positions (422)',
    code: 'positions_refused',
    van: FLEET[0],
    endsS: 10,
    isQuick: true,
    begin: answering((request, response) =>
      (request.courier === '1' && request.timestamps.some((time) => time % 3 === 0) ? refusing(422) : ok)(
        request,
        response,
      ),
    ),
  },
  {
    what: 'the API refuses the lanes of a courier (404); retried by hand once it takes them',
    code: 'lane_refused',
    van: FLEET[1],
    async begin(site) {
      const mend = await answering((request, response) =>
        (request.courier === '2' ? refusing(404) : ok)(request, response),
      )(site)
      return async () => {
        mend(site)
        await site.product.admin('/admin/parked/retry?courier_id=2', { method: 'POST' })
      }
    },
  },
  {
    what: 'the API refuses the apikey (403), until gateway.yaml has the new one',
    code: 'apikey_refused',
    van: FLEET[0],
    isQuick: true,
    async begin(site) {
      site.api.respond((request, response) => (request.apikey === 'next' ? ok : refusing(403))(request, response))
      return () => edit(site, 'gateway.yaml', (yaml) => yaml.replace(`apikey: ${COMPANY.apikey}`, 'apikey: next'))
    },
  },
  {
    what: 'the API refuses the OAuth token (401)',
    code: 'token_refused',
    async begin(site) {
      const path = `/api/v2/companies/7/routes/1001/courier-positions?from=0&to=1`
      const mend = await answering((request, response) =>
        (request.courier === undefined ? refusing(401) : ok)(request, response),
      )(site)
      await site.product.admin(path)
      return async () => {
        mend(site)
        await site.product.admin(path)
      }
    },
  },
  // Its vans are pushed by the other one: of no van it is said that it waits.
  { what: 'a worker is frozen (SIGSTOP)', code: 'worker_stuck', dueS: 10, begin: freezing('worker', 1) },
  {
    what: 'no worker lives: all are frozen',
    code: 'no_worker',
    van: FLEET[0],
    dueS: 10,
    // It is true of each, and noticed of one before the other.
    also: ['worker_stuck'],
    begin: freezing('worker', 2),
  },
  { what: 'the gateway is frozen', code: 'no_gateway', van: FLEET[0], dueS: 10, begin: freezing('gateway', 1) },
  {
    what: 'Redis is frozen (SIGSTOP)',
    code: 'redis_down',
    van: FLEET[0],
    dueS: 2,
    isQuick: true,
    async begin({ redis }) {
      await redis.kill('SIGSTOP')
      return () => redis.kill('SIGCONT')
    },
  },
  {
    what: 'Redis is killed',
    code: 'redis_down',
    van: FLEET[0],
    async begin({ redis }) {
      await redis.kill('SIGKILL')
      return () => redis.restart()
    },
  },
  {
    what: 'the memory of Redis is full',
    code: 'redis_full',
    van: FLEET[0],
    async begin({ command }) {
      const used = /^used_memory:(\d+)/m.exec(String(await command('INFO', 'memory')))?.[1]
      await command('CONFIG', 'SET', 'maxmemory', String(Math.round(Number(used) * 1.05)))
      return () => command('CONFIG', 'SET', 'maxmemory', '268435456')
    },
  },
  {
    what: 'Redis does not write through (appendfsync everysec)',
    code: 'redis_unsafe',
    well: [FLEET[0]],
    dueS: 10,
    endsS: 10,
    async begin({ command }) {
      await command('CONFIG', 'SET', 'appendfsync', 'everysec')
      return () => command('CONFIG', 'SET', 'appendfsync', 'always')
    },
  },
  {
    what: 'a tracker sends to the port of another protocol, and nothing understands it',
    code: 'wrong_port',
    van: OWN[2],
    begin: repeating(
      ({ product: { ports } }) => h02(ports['tcp/gt06'], OWN[2]),
      ({ product: { ports } }) => h02(ports['tcp/h02'], OWN[2]),
    ),
  },
  {
    what: 'a device presents a wrong secret',
    code: 'wrong_secret',
    van: GUARDED.id,
    isQuick: true,
    begin: repeating(
      (site) => osmand(site, GUARDED.id, { token: 'guessed' }),
      (site) => osmand(site, GUARDED.id, { token: GUARDED.secret }),
    ),
  },
  {
    what: 'the clock of a device is an hour ahead',
    code: 'clock_ahead',
    van: OWN[1],
    begin: repeating(
      (site) => osmand(site, OWN[1], { timestamp: nowS() + 3600 }),
      (site) => osmand(site, OWN[1]),
    ),
  },
  {
    what: 'frames of a device are not understood',
    code: 'not_understood',
    van: OWN[3],
    begin: repeating(
      ({ product: { ports } }) => wialon(ports['tcp/wialon'], OWN[3], 'Q'),
      ({ product: { ports } }) => wialon(ports['tcp/wialon'], OWN[3], 'N'),
    ),
  },
  {
    what: 'frames of a device have a wrong checksum',
    code: 'checksum_errors',
    van: OWN[4],
    dueS: 3,
    begin: repeating(
      ({ product: { ports } }) => gt06(ports['tcp/gt06'], OWN[4], true),
      ({ product: { ports } }) => gt06(ports['tcp/gt06'], OWN[4], false),
    ),
  },
  {
    what: 'the clock of a device is two hours behind: local time',
    code: 'clock_behind',
    van: OWN[0],
    dueS: 30,
    begin: repeating(
      (site) => osmand(site, OWN[0], { timestamp: nowS() - 7200 }),
      (site) => osmand(site, OWN[0]),
    ),
  },
  {
    what: 'the clock of a device is a year behind',
    code: 'clock_behind',
    van: OWN[0],
    dueS: 120,
    says: /set the clock.*365 days behind: no time zone fits/,
    never: /gps_old/,
    begin: repeating(
      (site) => osmand(site, OWN[0], { timestamp: nowS() - 365 * 86_400 }),
      (site) => osmand(site, OWN[0]),
    ),
  },
  {
    what: 'the API refuses all positions of a courier (422); retried by hand once it takes them',
    code: 'positions_refused',
    van: FLEET[1],
    endsS: 10,
    never: /others are delivered|correct the courier or the route/,
    async begin(site) {
      const mend = await answering((request, response) =>
        (request.courier === '2' ? refusing(422) : ok)(request, response),
      )(site)
      return async () => {
        mend(site)
        await site.product.admin('/admin/parked/retry?courier_id=2', { method: 'POST' })
      }
    },
  },
  {
    what: 'positions come without the login that names their device',
    code: 'no_id',
    dueS: 3,
    endsS: 60,
    says: /positions by the protocol gt06 name no device.*gt06 over tcp from 127\.0\.0\.1/,
    never: /unknown_refused/,
    begin: repeating(
      ({ product: { ports } }) => gt06Unnamed(ports['tcp/gt06']),
      async () => {},
    ),
  },
  {
    what: 'bytes without TLS come to a port with TLS',
    code: 'plain_to_tls',
    dueS: 3,
    endsS: 60,
    says: /what comes to [^"]*mqtts[^"]* does not speak TLS/,
    begin: repeating(
      ({ product: { ports } }) => plain(ports.mqtts),
      async () => {},
    ),
  },
  {
    what: 'two trackers send by one id over UDP, each where it is',
    code: 'claimed_twice',
    van: OWN[7],
    dueS: 20,
    endsS: 60,
    says: /teltonika from 127\.0\.\d\.0\/24 and teltonika from 127\.0\.\d\.0\/24 in turns/,
    begin: repeating(
      async (site) => {
        await teltonika(site, OWN[7], { address: '127.0.0.1', latitude: 52.5 })
        await teltonika(site, OWN[7], { address: '127.0.1.1', latitude: 48.1 })
      },
      (site) => teltonika(site, OWN[7], { address: '127.0.0.1', latitude: 52.5 }),
    ),
  },
  {
    what: 'a van is on a route, and its tracker has never connected',
    van: WAVES[0],
    says: /never heard.*nothing has come from it yet: point it to this server/,
    never: new RegExp(WAVES[0]),
    async begin() {
      return (site: Site) => osmand(site, WAVES[0])
    },
  },
  mistyped('swapped', 'two digits of an id are swapped in devices.yaml', /has two digits swapped\?/),
  mistyped('wrong', 'one digit of an id is wrong in devices.yaml', /has one other digit, and a wrong check digit\?/),
  mistyped('missing', 'one digit of an id is missing in devices.yaml', /has one digit less\?/),
  {
    ...mistyped(
      'neighbour',
      'a tracker that nobody has configured sends, beside one of the same box that never did',
      /if it is yours, name it/,
    ),
    never: /is it |Typed/,
  },
  {
    what: 'a device that nobody has configured sends, until it is in devices.yaml',
    code: 'unknown_device',
    van: STRANGER,
    isQuick: true,
    async begin(site) {
      await osmand(site, STRANGER)
      const entry = `"${STRANGER}": { name: New, company_id: 7, courier_id: 90, route_id: 2090 }\n`
      return async () => {
        await edit(site, 'devices.yaml', (yaml) => yaml + entry)
        // It was heard: what it sent before is its own.
        await says(site, `/admin/devices/${STRANGER}/chain`, 'ago: osmand over http from 127.0.0.1')
      }
    },
  },
  {
    what: 'a device without a route sends, until it has one',
    code: 'no_route',
    van: UNROUTED,
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
    van: OWN[0],
    // What was delivered meanwhile went by lines that are replaced.
    also: ['redelivery_offered'],
    async begin(site) {
      const send = () => Promise.all([osmand(site, OWN[0]), osmand(site, OWN[1])]).catch(() => {})
      const timer = setInterval(() => void send(), 1000)
      await edit(site, 'devices.yaml', (yaml) => yaml.replace('route_id: 2052', 'route_id: 2051'))
      return async () => {
        clearInterval(timer)
        await edit(site, 'devices.yaml', (yaml) =>
          yaml.replace('courier_id: 52, route_id: 2051', 'courier_id: 52, route_id: 2052'),
        )
        await says(site, `/admin/devices/${OWN[1]}`, '"route_id":"2052"')
        // By then the offer for what is replaced now stands, not that of the first edit alone.
        await pause(2000)
        await says(site, '/admin/findings', 'redelivery_offered')
        await site.product.admin('/admin/roster/redeliver?company_id=7', { method: 'DELETE' })
      }
    },
  },
  {
    what: 'a worker ends again and again (SIGKILL, three times)',
    code: 'restarting',
    endsS: 10,
    async begin({ product }) {
      for (let kills = 0; kills < 3; kills++) {
        // The one that was started last is the one that was killed last.
        await untilSo(() => product.pidsOf('worker').length >= 2, SOON)
        const worker = Math.max(...product.pidsOf('worker'))
        signal(worker, 'SIGKILL')
        await untilSo(() => !product.pidsOf('worker').includes(worker), SOON)
      }
      return () => {}
    },
  },
  {
    what: 'a put of the roster has a line of a device that is left out, until it is put without',
    code: 'roster_rejected',
    van: OWN[5],
    dueS: 5,
    endsS: 5,
    async begin(site) {
      const line = (courier: string) => `${OWN[5]},${courier},2056,${today()}T00:00:00Z,${today()}T23:59:00Z`
      await put(site, rosterOf([line('none'), `nobody,56,2056,${today()}T00:00:00Z,`]))
      return () => put(site, rosterOf([line('56')]))
    },
  },
  {
    what: 'a roster is pulled from where nothing listens, until the pull is taken out of gateway.yaml',
    code: 'roster_pull_failed',
    dueS: 2,
    endsS: 5,
    says: /the roster of http:\/\/127\.0\.0\.1:1\/roster\.csv cannot be pulled: .*"its server refuses connections"/,
    never: /restart_needed|config_refused|left out of the roster/,
    begin: (site) =>
      editing(
        site,
        'gateway.yaml',
        (yaml) =>
          `${yaml}roster: { pull: [{ url: "http://127.0.0.1:1/roster.csv?key=k", every: 1s, company_id: 7 }] }\n`,
      ),
  },
  {
    what: 'a file is an older copy of what another machine has written, until it is the newer one',
    code: 'roster_stale',
    dueS: 5,
    endsS: 5,
    async begin(site) {
      const [older, newer] = [10, 11].map(routesFrom)
      const other = await startProduct(
        { 'devices.yaml': await site.product.read('devices.yaml'), 'routes.csv': older },
        settings(site),
      )
      await other.write('routes.csv', newer)
      await says(site, '/admin/routes', '11:00')
      await site.product.write('routes.csv', older)
      return async () => {
        await site.product.write('routes.csv', newer)
        await other.end()
      }
    },
  },
  {
    what: 'the roster is that of yesterday: no line begins today, until one is put',
    code: 'roster_stale',
    van: UNROUTED,
    dueS: 60,
    endsS: 5,
    needs: ['a working day after six o’clock (UTC)', isWorkingTime],
    async begin(site) {
      const entry = `"${UNROUTED}": { name: Unrouted, company_id: 7, courier_id: 91 }\n`
      await edit(site, 'devices.yaml', (yaml) => yaml.replace(/^.*name: Unrouted.*\n/m, '') + entry)
      await says(site, `/admin/devices/${UNROUTED}`, '"configured":true')
      const before = Array.from({ length: 7 }, (_, days) => dayBefore(days + 1))
      await put(site, rosterOf(before.map((day) => `${UNROUTED},91,2091,${day}T05:00:00Z,${day}T20:00:00Z`)), 8)
      return () => put(site, rosterOf([`${UNROUTED},91,2091,${today()}T00:00:00Z,${today()}T23:59:00Z`]))
    },
  },
  {
    what: 'devices.yaml has a mistake, until it is corrected',
    code: 'config_refused',
    dueS: 2,
    endsS: 5,
    isQuick: true,
    says: /devices\.yaml on \S+ is refused: .*"devices\.yaml:\d+: .*company_id/,
    never: /left out of the roster|restart_needed/,
    begin: (site) =>
      editing(site, 'devices.yaml', (yaml) => `${yaml}"9": { name: Nine, company_id: none, courier_id: 1 }\n`),
  },
  {
    what: 'gateway.yaml has a mistake, until it is corrected',
    code: 'config_refused',
    dueS: 2,
    endsS: 5,
    says: /gateway\.yaml on \S+ is refused: /,
    never: /left out of the roster|restart_needed/,
    begin: (site) => editing(site, 'gateway.yaml', (yaml) => `${yaml}batch: { max_wait: soon }\n`),
  },
  {
    what: 'an empty devices.yaml would take the route from all vans, until it is there again',
    code: 'config_refused',
    dueS: 2,
    endsS: 5,
    says: /"devices\.yaml: would take the route from /,
    never: /left out of the roster|no_route/,
    begin: (site) => editing(site, 'devices.yaml', () => '{}\n'),
  },
  {
    what: 'an edit of gateway.yaml needs a restart, until it is taken back',
    code: 'restart_needed',
    dueS: 2,
    endsS: 5,
    isQuick: true,
    says: /settings of gateway\.yaml on \S+ take effect at the next start only.*"parked\.max_positions"/,
    never: /config_refused/,
    begin: (site) => editing(site, 'gateway.yaml', (yaml) => `${yaml}parked: { max_positions: 900000 }\n`),
  },
  {
    what: 'a certificate ends within 14 days, until there is a newer one',
    code: 'certificate_expires',
    dueS: 2,
    endsS: 5,
    async begin({ certificates }) {
      await certificates.server('broker', { days: 3 })
      return () => certificates.server('broker')
    },
  },
  {
    what: 'the API answers 500 for one courier, and takes all others: its positions wait for over a minute',
    code: 'backlog',
    dueS: 60,
    endsS: 5,
    begin: answering((request, response) => (request.courier === '3' ? refusing(500) : ok)(request, response)),
  },
  {
    what: 'the disk of the private Redis has less than 256 MiB left',
    code: 'disk_full',
    dueS: 10,
    endsS: 10,
    at: 'disk',
    well: [FLEET[0]],
    heads: /^the disk of Redis is full, or nearly/i,
    begin: filling(0.5),
  },
  {
    what: 'the disk of the private Redis is full: it ends, and is started again once there is space',
    code: 'disk_full',
    endsS: 10,
    at: 'disk',
    van: FLEET[0],
    also: ['redis_down'],
    heads: /^Redis (cannot write to its disk|does not answer, and its disk is full)/,
    begin: filling(1),
  },
  {
    what: 'the API does not answer one courier of 20, for longer than push.timeout, and takes all others',
    code: 'lane_hanging',
    van: LARGE_FLEET[4],
    dueS: 15,
    lastsS: 75,
    at: 'fleet',
    never: findings(...ABOUT_THE_API, 'positions_refused', 'lane_refused'),
    well: [LARGE_FLEET[0], LARGE_FLEET[11], LARGE_FLEET[19]],
    begin: answering((request, response) => {
      if (request.courier !== '5') ok(request, response)
    }),
  },
  {
    what: '19 of 20 vans fall silent together',
    code: 'traffic_stopped',
    van: LARGE_FLEET[0],
    dueS: 50,
    lastsS: 20,
    endsS: 5,
    at: 'fleet',
    never: findings(...ABOUT_THE_API, 'lane_hanging', 'silent', 'no_gateway', 'unknown_device'),
    well: [LARGE_FLEET[19]],
    async begin({ halt, startedAt }) {
      // Before, it is not known how often the vans send.
      await pause(Math.max(0, 90_000 - (performance.now() - startedAt)))
      return halt()
    },
  },
  {
    what: 'the gateway is frozen for half a minute: its vans fall silent, and are back',
    code: 'no_gateway',
    van: LARGE_FLEET[0],
    dueS: 10,
    lastsS: 20,
    at: 'fleet',
    never: findings(...ABOUT_THE_API, 'lane_hanging', 'silent', 'traffic_stopped'),
    begin: freezing('gateway', 1),
  },
  {
    what: 'nothing is heard of a device on its route',
    code: 'silent',
    van: OWN[5],
    dueS: 300,
    at: 'long',
    also: ['gps_old', 'impossible_move'],
    never: about('gps_old', OWN[5]),
    async begin(site) {
      await osmand(site, OWN[5])
      return () => osmand(site, OWN[5])
    },
  },
  {
    what: 'many vans fall silent in waves, and are heard again in waves',
    code: 'silent',
    van: WAVES[0],
    dueS: 300,
    endsS: 120,
    at: 'waves',
    async begin(site) {
      for (const wave of IN_WAVES) {
        await Promise.all(wave.map((id) => osmand(site, id)))
        await pause(20_000)
      }
      return async () => {
        await untilSo(() => silences(site).at(-1)?.count === WAVES.length, { withinMs: 90_000 })
        for (const wave of IN_WAVES) {
          await Promise.all(wave.map((id) => osmand(site, id)))
          await pause(3000)
        }
      }
    },
    told(site) {
      const told = silences(site).map(({ change, count }) => `${change} ${count}`)
      const isOnce = (change: string) => told.filter((each) => each.startsWith(change)).length === 1
      const isInOrder = told[0]?.startsWith('begins') && told.at(-1) === `ends ${WAVES.length}`
      const isOne = new Set(silences(site).map(({ id }) => id)).size === 1
      const isWell =
        isInOrder && isOne && isOnce('begins') && isOnce('ends') && told.includes(`updates ${WAVES.length}`)
      return isWell ? undefined : `the webhook was told ${told.join(', ')}`
    },
  },
  {
    what: 'a device sends positions without satellites alone',
    code: 'gps_old',
    van: OWN[7],
    dueS: 300,
    at: 'long',
    also: ['silent', 'impossible_move'],
    never: about('silent', OWN[7]),
    async begin(site) {
      await osmand(site, OWN[7])
      return repeating(
        () => osmand(site, OWN[7], { valid: 'false' }),
        () => osmand(site, OWN[7]),
      )(site)
    },
  },
  {
    what: 'a device sends its last position again and again',
    code: 'gps_old',
    van: OWN[6],
    dueS: 300,
    at: 'long',
    also: ['silent', 'impossible_move'],
    never: about('silent', OWN[6]),
    async begin(site) {
      const timestamp = nowS()
      return repeating(
        () => osmand(site, OWN[6], { timestamp }),
        () => osmand(site, OWN[6]),
      )(site)
    },
  },
  {
    what: 'a tracker sends to the port of another protocol, where a listener for all protocols is configured',
    code: 'wrong_port',
    van: OWN[2],
    at: 'auto',
    begin: repeating(
      ({ product: { ports } }) => h02(ports['tcp/gt06'], OWN[2]),
      ({ product: { ports } }) => h02(ports['tcp/h02'], OWN[2]),
    ),
  },
  {
    what: 'the old server behind a trial is down: its trackers are cut off, and no others',
    code: 'trial_unreachable',
    at: 'trial',
    endsS: 15,
    well: FLEET,
    says: /the old server behind the trial on tcp\/gt06#2 cannot be reached.*127\.0\.0\.1:\d+: ECONNREFUSED/,
    begin: behindTrial,
  },
  ...FURTHER,
  ...BOUNDS,
]

/** The vans of each wave. */
const IN_WAVES = [WAVES.slice(0, 3), WAVES.slice(3, 12), WAVES.slice(12)]

/** What the webhook was told of vans that are silent. */
function silences({ webhook }: Site): { code: string; change: string; count: number; id: string }[] {
  return webhook.posts
    .map(({ body }) => JSON.parse(body) as ReturnType<typeof silences>[number])
    .filter(({ code }) => code === 'silent')
}

/** An API that speaks HTTPS alone. `plainly`: the page that it answers with 400 to what comes without; `cuts`: it cuts that. */
function withTls(plainly: string): Fault['begin'] {
  return async ({ api, certificates }) => {
    const own = createSecure(await certificates.server('api'), (_request, response) => response.end('{}'))
    const answer = () => `HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n${plainly}`
    return api.replace(plainly === 'cuts' ? own : securePort(own, answer))
  }
}

/** A tracker sends, whose entry in devices.yaml has a slip, until that is corrected. */
function mistyped(slip: keyof typeof TYPED, what: string, sentence: RegExp): Fault {
  const { id, typed } = TYPED[slip]
  return {
    what,
    code: 'unknown_device',
    van: id,
    says: sentence,
    async begin(site) {
      await osmand(site, id)
      return () => edit(site, 'devices.yaml', (yaml) => yaml.replace(`"${typed}"`, `"${id}"`))
    },
  }
}

function freezing(role: string, count: number): Fault['begin'] {
  return async ({ product }) => {
    const pids = product.pidsOf(role).slice(0, count)
    for (const pid of pids) signal(pid, 'SIGSTOP')
    return () => pids.forEach((pid) => signal(pid, 'SIGCONT'))
  }
}

/** Takes this share of what is free on the disk of the product; 1: all, whatever else is written meanwhile. */
function filling(share: number): Fault['begin'] {
  return async ({ product: { dir } }) => {
    const { bavail, bsize } = await statfs(dir)
    const ballast = join(dir, 'ballast')
    const count = share === 1 ? [] : [`count=${Math.floor(bavail * share)}`]
    const writing = promisify(execFile)('dd', ['if=/dev/zero', `of=${ballast}`, `bs=${bsize}`, ...count])
    await (share === 1 ? writing.catch(() => {}) : writing)
    return () => rm(ballast)
  }
}

/** A tracker by way of a trial, whose old server is down, and up again. */
async function behindTrial(site: Site): Promise<(site: Site) => Promise<void>> {
  await sendOnTrial(site)
  await site.oldServer?.stop()
  const mend = await repeating(sendOnTrial, sendOnTrial)(site)
  return async () => {
    await site.oldServer?.start()
    mend(site)
  }
}

function sendOnTrial({ product: { ports } }: Site): Promise<void> {
  return gt06(ports['tcp/gt06#2'], OWN[4], false)
}

/** Replaces the lines of the company from so many days ago until tomorrow. */
async function put({ product }: Site, body: string, days = 1): Promise<void> {
  const [from, until] = [dayBefore(days), dayBefore(-1)].map((day) => `${day}T00:00:00Z`)
  const headers = { 'content-type': 'text/csv' }
  const query = new URLSearchParams({ company_id: '7', from, until, force: 'true' })
  await product.admin(`/admin/routes?${query.toString()}`, { method: 'PUT', headers, body })
}

/** A roster for today whose line begins at this hour. */
function routesFrom(hour: number): string {
  return rosterOf([`${OWN[5]},56,2056,${today()}T${hour}:00:00Z,${today()}T23:59:00Z`])
}

function rosterOf(lines: readonly string[]): string {
  return ['device,courier_id,route_id,from,until', ...lines, ''].join('\n')
}

function today(): string {
  return dayBefore(0)
}

/** `2026-11-23`, UTC. */
function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}

function isWorkingTime(): boolean {
  const now = new Date()
  return now.getUTCDay() % 6 !== 0 && now.getUTCHours() >= 6
}
