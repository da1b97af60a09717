import { z } from 'zod'
import { admin } from './admin.ts'
import { alerts } from './alerts.ts'
import { companyTracking, proxyUrl, tlsFiles, unequalApis } from './apis.ts'
import { bridges } from './bridge.ts'
import { copies } from './copies.ts'
import {
  address,
  age,
  fields,
  flag,
  headerToken,
  httpUrl,
  id,
  integer,
  list,
  logging,
  networks,
  number,
  oneOf,
  orNull,
  pathPrefix,
  printableText,
  section,
  setting,
  span,
  text,
  tiles,
  timer,
  zone,
} from './leaves.ts'
import { broker, listener, type Protocols, usualListeners } from './listener.ts'
import { pulls } from './pull.ts'
import { redis } from './redis.ts'

export type { Protocols }

/** gateway.yaml, validated: durations in ms, sizes in bytes, ids as canonical digits. */
export type Config = z.output<ReturnType<typeof configSchema>>
/** The certificate of a port, and the client certificates that may connect. */
export type TlsConfig = NonNullable<Config['listeners'][number]['tls']>
/** The old server behind a listener, and whether positions that come through it are pushed. */
export type TrialConfig = NonNullable<Config['listeners'][number]['trial']>
/** A company whose couriers are tracked. */
export type Company = Config['companies'][number]

/** The default of every key; `listeners` has the usual ports of `protocols`. */
export function defaultConfig(protocols: Protocols): Config {
  return configSchema(protocols).parse({})
}

/**
 * Returns the schema of gateway.yaml, with the default and the description of each key, from which config/reference.yaml is
 * generated. A scalar may be text, as in the YAML file, or the value that the text means. `dir` is the folder of the file, in
 * which relative paths begin.
 */
export function configSchema(protocols: Protocols, dir = '') {
  return section({
    redis,
    data_dir: setting(
      text,
      '.data',
      'Folder of the private Redis, the embedded service and the admin token, relative to the working folder.',
    ),
    time_zone: setting(zone, 'UTC', 'Zone of local times in routes files: an IANA name or an offset.'),
    listeners: list(listener(protocols, dir), () => usualListeners(protocols)).describe(
      'Ports for devices; default: each protocol on its usual ports.',
    ),
    mqtt: section({
      broker: setting(broker(dir).nullable(), {}, 'The built-in MQTT broker; null: none.'),
      bridges: bridges(protocols, dir).describe('Brokers of your own to subscribe to.'),
    }),
    tracking: section({
      base_url: orNull(httpUrl).describe('URL of the tracking API; null: the embedded tracking service.'),
      push_url: orNull(httpUrl).describe('URL that positions are pushed to; null: `base_url`.'),
      listen: section(address('127.0.0.1', 8090)).describe('Address of the embedded tracking service.'),
      return_prefix: setting(pathPrefix, '', 'Path of the return operation, such as `/api/v1`.'),
      tls: tlsFiles(dir),
      proxy: orNull(proxyUrl).describe('URL of an HTTP proxy that connects to the API (CONNECT); null: none.'),
    }),
    companies: list(company(dir)).describe(
      'The companies whose couriers are tracked; none, with the embedded tracking service on this machine: company 1, to try things out.',
    ),
    keep: section({
      delivered: setting(
        span,
        '48h',
        'Time for which delivered fixes are kept, by their own time, to correct routes and to verify; `0s`: not at all.',
      ),
      max_memory: setting(
        number(0.001, 0.5),
        0.1,
        'Share of the memory of Redis that they may take; beyond it the oldest hours are deleted.',
      ),
    }),
    roster: section({
      redeliver: setting(
        oneOf('ask', 'always', 'never'),
        'ask',
        'Positions that were delivered by lines of the past which a file or a pulled roster replaces: offer to deliver them where they belong (`ask`), do so, or leave them.',
      ),
      pull: pulls(dir).describe('Rosters that other systems serve.'),
    }),
    verify: section({
      share: setting(
        number(0, 1),
        0.02,
        'Share of routes and times of which the tracking API is read back and compared with what was delivered; 0: none.',
      ),
      after: setting(timer(1), '2m', 'Time after which a delivered position must be there.'),
      repair: setting(flag, false, 'Push positions that are missing there once more.'),
    }),
    copies: copies(dir).describe('Other receivers of the same positions.'),
    batch: section({
      max_positions: setting(integer(1, 100_000), 500, 'Maximum number of positions in one request.'),
      max_wait: setting(
        timer(0),
        '1s',
        'Maximum time that a position waits for its batch to fill; up to 200 ms also where this is less.',
      ),
    }),
    push: section({
      concurrency: setting(integer(1, 100_000), 64, 'Maximum number of requests at once to an API, by all workers.'),
      max_requests_per_s: orNull(number(0.001, 1_000_000)).describe(
        'Maximum rate of all workers to an API; null: no limit.',
      ),
      timeout: setting(timer(1), '60s', 'Maximum duration of a request, answer included.'),
      first_delay: setting(timer(1), '1s', 'Delay of the first retry; the next delays are longer.'),
      max_delay: setting(timer(1), '60s', 'Maximum delay of a retry.'),
      redeliver_share: setting(
        number(0.01, 1),
        0.2,
        'Requests that may begin each second with positions which are delivered once more, as a share of `concurrency`, or of `max_requests_per_s` where it is set.',
      ),
    }).superRefine(({ first_delay, max_delay }, context) => {
      if (first_delay > max_delay) context.addIssue({ code: 'custom', path: ['max_delay'], message: TOO_SHORT_DELAY })
    }),
    filter: section({
      uere_m: setting(number(0.1, 1000), 5, 'Accuracy in metres for each unit of HDOP.'),
      default_accuracy_m: setting(
        number(1, 100_000),
        50,
        'Accuracy in metres, if the device sends neither it nor HDOP.',
      ),
      max_future: setting(span, '5m', 'A fix further in the future is held as `clock`.'),
      max_age: setting(age('null: no limit').nullable(), '90d', 'An older fix is filtered as `past`; null: no limit.'),
      duplicate_window: setting(span, '24h', 'Time in which a repeated fix is filtered; `0s`: never.'),
      suspicious: setting(
        oneOf('report', 'hold'),
        'report',
        'Fixes off the track of their device: `report` them as a finding, or `hold` them as well.',
      ),
    }),
    hold: section({
      unknown: setting(
        flag,
        true,
        'Hold fixes of unknown devices; `false`: refuse them, except while `waybridge enrol` admits them.',
      ),
      no_route: setting(flag, true, 'Hold fixes without a route; `false`: filter them.'),
      clock: setting(flag, true, 'Hold fixes from the future; `false`: filter them.'),
      max_unknown_devices: setting(integer(0, 1_000_000), 1000, 'Maximum of unknown devices with held fixes.'),
      max_fixes_per_device: setting(integer(0, 1_000_000_000), 10_000, 'Maximum number of held fixes of a device.'),
      max_age: setting(
        age('to hold nothing, set hold.unknown, hold.no_route and hold.clock to false'),
        '24h',
        'Age at which a held fix is discarded.',
      ),
    }),
    gateways: setting(gateways, 1, 'Number of processes of `start` that share the ports of the devices.'),
    workers: setting(integer(1, 1024), 1, 'Number of processes that push positions.'),
    admin: admin(dir),
    alerts,
    page: section({
      tiles: orNull(tiles(dir)).describe(
        'Tiles for the map: `https://…/{z}/{x}/{y}.png`, `.mvt`, `.pbf`, or a PMTiles file, its URL or path; null: outlines.',
      ),
      attribution: orNull(printableText).describe(
        'Whose the tiles are, as their licence asks to say it on the map; null: what they say themselves.',
      ),
      language: setting(oneOf('auto', 'en', 'de'), 'auto', 'Language of the page; `auto`: that of the browser.'),
    }),
    parked: section({
      max_positions: setting(
        integer(0, 1_000_000_000_000),
        1_000_000,
        'Above this number, lanes with parked positions accept no more fixes: devices keep theirs.',
      ),
    }),
    monitor: section(address('127.0.0.1', 9464)).describe('Metrics and readiness of a role that runs alone.'),
    limits: section({
      max_connections: setting(integer(1, 10_000_000), 100_000, 'Maximum number of open connections.'),
      max_connections_per_ip: setting(integer(1, 10_000_000), 10_000, 'The same for one IP address.'),
      max_connections_per_device: setting(
        integer(1, 10_000_000),
        4,
        'The same for one device: above it one of the network with most of them is closed, first one without a fix.',
      ),
      identify_timeout: setting(timer(1), '30s', 'Time within which a connection must send its device id.'),
      idle_timeout: setting(timer(1), '15m', 'A connection without data for this time is closed.'),
      max_frame_bytes: setting(integer(64, 1 << 30), 65_536, 'Size of the largest frame, in bytes.'),
    }),
    trusted_proxies: networks.describe('CIDR: whose PROXY headers and `Forwarded` are believed.'),
    log: logging(),
  }).superRefine(({ companies, listeners, mqtt, push, tracking, trusted_proxies }, context) => {
    for (const { path, message } of unequalApis({ companies, push, tracking }))
      context.addIssue({ code: 'custom', path, message })
    if (trusted_proxies.length > 0) return
    const listed = listeners.map(({ proxy_protocol }, index) => ({ proxy_protocol, path: ['listeners', index] }))
    for (const { proxy_protocol, path: at } of [...listed, { ...mqtt.broker, path: ['mqtt', 'broker'] }])
      if (proxy_protocol) context.addIssue({ code: 'custom', path: [...at, 'proxy_protocol'], message: NO_PROXY })
  })
}

/** Several processes can share a port only if the kernel spreads connections over its listeners. */
const gateways = integer(1, 1024).refine(
  (count) => count === 1 || ['linux', 'freebsd'].includes(process.platform),
  'expected 1: more processes share a port only on Linux and FreeBSD',
)

const TOO_SHORT_DELAY = 'less than push.first_delay: raise it, or set a shorter push.first_delay'
const NO_PROXY = 'trusted_proxies is empty: list the addresses of the proxies there'

/** One text, or a list of several. */
const keys = z.unknown().transform((value, context): string | string[] => {
  const read = Array.isArray(value)
    ? z.array(text).min(1, 'expected at least one key').safeParse(value)
    : text.safeParse(value)
  if (read.success) return read.data
  for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path })
  return z.NEVER
})

function company(dir: string) {
  return fields({
    company_id: id.describe('Id of the company in the tracking API.'),
    name: text.optional().describe('Name for people.'),
    apikey: keys.describe('Key with which positions are pushed, or a list: where one is refused the next is tried.'),
    oauth_token: headerToken.optional().describe('Token with which the relay calls the tracking API.'),
    tracking: companyTracking(dir)
      .nullish()
      .describe('Its own tracking API; what is null or left out is as `tracking` and `push` have it.'),
  })
}
