import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/config/files.ts'
import { type Config, configSchema, defaultConfig } from '../../src/config/schema.ts'
import { TRACKING } from '../../src/config/tracking.ts'
import { checked, folder, PROTOCOLS } from '../support/config-folder.ts'
import { configKeys } from '../support/config-keys.ts'

afterEach(() => vi.unstubAllEnvs())

async function config(text: string): Promise<Config> {
  return (await loadConfig(await folder({ 'gateway.yaml': text }), PROTOCOLS)).config
}

async function mistakes(text: string): Promise<string[]> {
  return (await checked({ 'gateway.yaml': text })).mistakes
}

/** Default settings of Redis. */
const REDIS = {
  url: null,
  sentinels: [],
  cluster: [],
  shards: 1,
  name: null,
  username: null,
  password: null,
  sentinel_password: null,
  tls: false,
  replicas: 0,
  max_memory: null,
  stop_at: 0.85,
  durability: 'strict',
}
/** Default connection settings of a listener. */
const OPEN = { host: '0.0.0.0', tls: null, proxy_protocol: false, networks: [], trial: null }
const NO_TILES =
  '1:16 page.tiles: expected the URL of a tile server, such as https://tiles.example/{z}/{x}/{y}.png (.mvt, .pbf: vector tiles), or a file with the extension .pmtiles'
const TOKEN_EXPECTED = 'expected printable ASCII characters without spaces'

/** Company of a new installation, to try out the embedded tracking service. */
const TRY_OUT = { company_id: '1', name: 'Try-out', apikey: 'try-out', oauth_token: 'try-out' }
const NEW = { ...defaultConfig(PROTOCOLS), companies: [TRY_OUT] }

const ISSUER_EXPECTED = 'expected an https URL without user name, query or fragment'
const PAGE_EXPECTED = 'expected an https URL without path, such as https://gateway.example'
const SCOPES_EXPECTED = 'expected scopes with openid among them'

/** Returns a gateway.yaml with `admin.oidc`: `issuer` in line 3, `roles` in line 6, `more` in line 8. */
function oidc({
  issuer = 'https://sso.example',
  roles = '{ a: { role: read } }',
  scopes = 'openid groups',
  more = 'url: null',
}): string {
  const keys = [`issuer: ${issuer}`, 'client_id: w', 'client_secret: a-long-secret-7d2c', `roles: ${roles}`]
  const lines = [...keys, `scopes: ${scopes}`, more].map((line) => `    ${line}`)
  return ['admin:', '  oidc:', ...lines, 'companies: [{ company_id: 7, apikey: k }]'].join('\n')
}

describe('gateway.yaml', () => {
  it('an empty gateway.yaml has the documented defaults and a listener for each protocol and transport', async () => {
    expect(await config('')).toEqual({
      redis: REDIS,
      data_dir: '.data',
      time_zone: 'UTC',
      listeners: [
        { transport: 'tcp', port: 5000, protocol: 'auto', ...OPEN },
        { transport: 'udp', port: 5000, protocol: 'auto', ...OPEN },
        { transport: 'tcp', port: 5027, protocol: 'teltonika', ...OPEN },
        { transport: 'udp', port: 5027, protocol: 'teltonika', ...OPEN },
        { transport: 'http', port: 5055, protocol: 'osmand', ...OPEN },
      ],
      mqtt: { broker: { host: '0.0.0.0', port: 1883, tls: null, tls_port: 8883, proxy_protocol: false }, bridges: [] },
      tracking: {
        base_url: null,
        push_url: null,
        listen: { host: '127.0.0.1', port: 8090 },
        return_prefix: '',
        tls: { ca: null, cert: null, key: null },
        proxy: null,
      },
      companies: [TRY_OUT],
      keep: { delivered: 172_800_000, max_memory: 0.1 },
      roster: { redeliver: 'ask', pull: [] },
      verify: { share: 0.02, after: 120_000, repair: false },
      copies: [],
      batch: { max_positions: 500, max_wait: 1000 },
      push: {
        concurrency: 64,
        max_requests_per_s: null,
        timeout: 60_000,
        first_delay: 1000,
        max_delay: 60_000,
        redeliver_share: 0.2,
      },
      filter: {
        uere_m: 5,
        default_accuracy_m: 50,
        max_future: 300_000,
        max_age: 7_776_000_000,
        duplicate_window: 86_400_000,
        suspicious: 'report',
      },
      hold: {
        unknown: true,
        no_route: true,
        clock: true,
        max_unknown_devices: 1000,
        max_fixes_per_device: 10_000,
        max_age: 86_400_000,
      },
      gateways: 1,
      workers: 1,
      admin: {
        host: '127.0.0.1',
        port: 8080,
        tls: null,
        behind_proxy: false,
        metrics_token: null,
        tokens: [],
        oidc: null,
        log_reads: false,
      },
      alerts: { webhooks: [], mail: null, quiet_hours: null, daily: null, flap: 600_000, page_url: null },
      page: { tiles: null, attribution: null, language: 'auto' },
      parked: { max_positions: 1_000_000 },
      monitor: { host: '127.0.0.1', port: 9464 },
      limits: {
        max_connections: 100_000,
        max_connections_per_ip: 10_000,
        max_connections_per_device: 4,
        identify_timeout: 30_000,
        idle_timeout: 900_000,
        max_frame_bytes: 65_536,
      },
      trusted_proxies: [],
      log: { level: 'info', format: 'auto' },
    })
  })

  it('a missing gateway.yaml means the defaults', async () =>
    expect((await loadConfig(await folder({}), PROTOCOLS)).config).toEqual(NEW))

  it('an empty section of gateway.yaml means its defaults', async () =>
    expect(await config('redis:\nlisteners:\ncompanies:\nmqtt:\n')).toEqual(NEW))

  it('without companies in gateway.yaml there is one for the embedded tracking service, but none for an API', async () => {
    const api = 'tracking: { base_url: "https://tracking.example.com" }\n'
    expect((await config('time_zone: UTC\n')).companies).toEqual([TRY_OUT])
    expect((await config(api)).companies).toEqual([])
    expect((await config('tracking: { listen: { host: 0.0.0.0 } }\n')).companies).toEqual([])
    const devices = '"1": { company_id: 1 }\n"2": { company_id: 2 }\n'
    const found = (await checked({ 'devices.yaml': devices })).mistakes
    expect(found).toEqual([expect.stringContaining('company 2 is not among the companies of gateway.yaml')])
  })

  it('gateway.yaml is read into values: sizes, durations, exact ids, texts of secrets', async () => {
    const text = `
redis: { url: redis://127.0.0.1:6379/1, max_memory: 512mb, durability: relaxed }
listeners: [{ transport: udp, port: 0, protocol: teltonika, host: 127.0.0.1 }]
mqtt: { broker: null }
tracking: { base_url: "https://tracking.example.com/", push_url: null }
companies: [{ company_id: 0007, apikey: 0123, name: "7" }, { company_id: 9223372036854775807, apikey: "k & ü\\n" }]
filter: { max_age: 48h, uere_m: 4.5 }
admin: { tokens: [abc] }
`
    const { redis, listeners, mqtt, tracking, companies, filter, admin } = await config(text)
    expect({ redis, listeners, mqtt, companies }).toEqual({
      redis: { ...REDIS, url: 'redis://127.0.0.1:6379/1', max_memory: 536_870_912, durability: 'relaxed' },
      listeners: [{ transport: 'udp', port: 0, protocol: 'teltonika', ...OPEN, host: '127.0.0.1' }],
      mqtt: { broker: null, bridges: [] },
      companies: [
        { company_id: '7', apikey: '0123', name: '7' },
        { company_id: '9223372036854775807', apikey: 'k & ü\n' },
      ],
    })
    expect([tracking.base_url, filter.max_age, filter.uere_m]).toEqual([
      'https://tracking.example.com',
      172_800_000,
      4.5,
    ])
    expect(admin.tokens).toEqual([{ token: 'abc', role: 'operate', companies: null }])
  })

  it('gateway.yaml sets the limits of repeats, held and parked fixes', async () => {
    const { redis, filter, hold, parked } = await config(`
redis: { stop_at: 0.5 }
filter: { duplicate_window: 0s }
hold: { unknown: false, no_route: false, clock: false, max_unknown_devices: 0, max_fixes_per_device: 5, max_age: 90m }
parked: { max_positions: 0 }
`)
    expect([redis.stop_at, filter.duplicate_window, parked]).toEqual([0.5, 0, { max_positions: 0 }])
    expect(hold).toEqual({
      unknown: false,
      no_route: false,
      clock: false,
      max_unknown_devices: 0,
      max_fixes_per_device: 5,
      max_age: 5_400_000,
    })
  })

  it.each([
    [
      'an unknown key and the nearest known one',
      'batch: { max_wiat: 1s }',
      '1:10 batch.max_wiat: unknown key: did you mean max_wait?',
    ],
    ['an unknown section', 'lisseners: []', '1:1 lisseners: unknown key: did you mean listeners?'],
    [
      'an unknown key that is similar to no other',
      'admin: { x: 1 }',
      '1:10 admin.x: unknown key: expected one of host, port, tls, behind_proxy, metrics_token, tokens, oidc, log_reads',
    ],
    [
      'a wrong type',
      'batch:\n  max_positions: many',
      '2:18 batch.max_positions: expected a whole number from 1 to 100000',
    ],
    ['a list for a mapping', 'log: [info]', '1:6 log: expected a mapping with level, format'],
    ['a mapping for a list', 'companies: {}', '1:12 companies: expected a list'],
    [
      'a duration without unit',
      'push: { timeout: 60 }',
      '1:18 push.timeout: expected a duration such as 500ms, 60s or 5m, above 0 and at most 24h',
    ],
    [
      'a limit of age that filters every fix',
      'filter: { max_age: 0s }',
      '1:20 filter.max_age: expected a duration above 0, such as 24h or 90d; null: no limit',
    ],
    [
      'a limit of age that discards every held fix',
      'hold: { max_age: 0.1ms }',
      '1:18 hold.max_age: expected a duration above 0, such as 24h or 90d; to hold nothing, set hold.unknown, hold.no_route and hold.clock to false',
    ],
    [
      'a first delay of retries above the longest one',
      'push: { first_delay: 2m }',
      '1:7 push.max_delay: less than push.first_delay: raise it, or set a shorter push.first_delay',
    ],
    [
      'a word that is not one of the choices',
      'log: { level: loud }',
      '1:15 log.level: expected one of trace, debug, info, warn, error, fatal',
    ],
    [
      'an unknown time zone',
      'time_zone: Berlin',
      '1:12 time_zone: expected a time zone such as Europe/Berlin or +03:00',
    ],
    ['a port above 65535', 'admin: { port: 70000 }', '1:16 admin.port: expected a port from 0 to 65535'],
    [
      'a URL that is not http',
      'tracking: { base_url: ftp://x }',
      '1:23 tracking.base_url: expected an http or https URL without user name, query or fragment',
    ],
    [
      'an id out of int64',
      'companies: [{ company_id: 9223372036854775808, apikey: k }]',
      '1:27 companies[0].company_id: expected an id of at most 9223372036854775807',
    ],
    [
      'a company without any apikey',
      'companies:\n  - { company_id: 7, apikey: [] }',
      '2:30 companies[0].apikey: expected at least one key',
    ],
    ['a company without apikey', 'companies:\n  - { company_id: 7 }', '2:5 companies[0].apikey: missing'],
    [
      'a company twice',
      'companies: [{ company_id: 7, apikey: a }, { company_id: 007, apikey: b }]',
      '1:57 companies[1].company_id: company 7 is listed twice',
    ],
    [
      'an unknown protocol',
      'listeners: [{ transport: tcp, port: 1, protocol: teltonica }]',
      '1:50 listeners[0].protocol: unknown protocol: did you mean teltonika?',
    ],
    [
      'a transport that the protocol does not support',
      'listeners: [{ transport: udp, port: 1, protocol: osmand }]',
      '1:26 listeners[0].transport: expected http for osmand',
    ],
    ['a key twice', 'workers: 1\nworkers: 2', '2:1 workers: this key occurs twice'],
    [
      'a document that is a list',
      '- 1',
      '1:1 expected a mapping with redis, data_dir, time_zone, listeners, mqtt, tracking, companies, keep, roster, verify, copies, batch, push, filter, hold, gateways, workers, admin, alerts, page, parked, monitor, limits, trusted_proxies, log',
    ],
    [
      'text that is not YAML',
      'batch: {\nworkers: 1',
      '2:1 not valid YAML: Flow map in block collection must be sufficiently indented and end with a }',
    ],
    ['a second document', 'workers: 1\n---\n', '2:1 expected one document: remove the lines --- and ...'],
    [
      'a return_prefix that is not a path',
      'tracking: { return_prefix: api/v1 }',
      '1:28 tracking.return_prefix: expected "" or a path such as /api/v1',
    ],
    [
      'an unknown role',
      'admin: { tokens: [{ token: token-one, role: write }] }',
      '1:45 admin.tokens[0].role: expected one of read, operate',
    ],
    [
      'a token with two roles',
      'admin: { tokens: [token-one, token-two, { token: token-one, role: read }] }',
      '1:50 admin.tokens[2].token: this token is listed twice',
    ],
    [
      'a token that expires on a day that does not exist',
      'admin: { tokens: [{ token: token-one, expires: "2027-02-30T00:00:00Z" }] }',
      '1:48 admin.tokens[0].expires: expected an instant such as 2027-01-01T00:00:00Z',
    ],
    [
      'quiet hours that end when they begin',
      'alerts: { quiet_hours: { from: "22:00", until: "22:00" } }',
      '1:48 alerts.quiet_hours.until: the same as from: that is no time at all',
    ],
    [
      'a token with a space',
      'admin: { tokens: [token-one, canary b] }',
      `1:30 admin.tokens[1].token: ${TOKEN_EXPECTED}`,
    ],
    ['an empty token', 'admin: { tokens: [{ token: "" }] }', `1:28 admin.tokens[0].token: ${TOKEN_EXPECTED}`],
    [
      'an oauth_token of two lines',
      'companies: [{ company_id: 7, apikey: k, oauth_token: "canary\\nb" }]',
      `1:54 companies[0].oauth_token: ${TOKEN_EXPECTED}`,
    ],
    [
      'an oauth_token that is not ASCII',
      'companies: [{ company_id: 7, apikey: k, oauth_token: canär }]',
      `1:54 companies[0].oauth_token: ${TOKEN_EXPECTED}`,
    ],
    [
      'an apikey with half of a surrogate pair',
      'companies: [{ company_id: 7, apikey: "canary\\ud83d" }]',
      '1:38 companies[0].apikey: expected text',
    ],
    [
      'a webhook whose URL is none, without the URL',
      'alerts: { webhooks: [{ url: "ftp://canary" }] }',
      '1:29 alerts.webhooks[0].url: expected an http or https URL without user name and fragment',
    ],
    [
      'a mail server whose URL is none, without the URL',
      'alerts: { mail: { smtp: "canary", from: a@example.com, to: [b@example.com] } }',
      '1:25 alerts.mail.smtp: expected a URL such as smtps://user:password@mail.example.com',
    ],
    [
      'a mail without receivers',
      'alerts: { mail: { smtp: "smtp://mail", from: a@example.com } }',
      '1:17 alerts.mail.to: expected a list',
    ],
    [
      'quiet hours that are no time of the day',
      'alerts: { quiet_hours: { from: "25:00", until: "06:00" } }',
      '1:32 alerts.quiet_hours.from: expected a time of the day such as 22:00',
    ],
    ['no gateway', 'gateways: 0', '1:11 gateways: expected a whole number from 1 to 1024'],
    [
      'Sentinels without a port',
      'redis: { sentinels: [a], name: b }',
      '1:22 redis.sentinels[0]: expected a host and a port, such as redis-1.example.com:26379',
    ],
    [
      'Sentinels without the name of the primary',
      'redis: { sentinels: ["a:26379"] }',
      '1:8 redis.name: missing: what the Sentinels call the primary',
    ],
    [
      'Sentinels beside a URL',
      'redis: { url: "redis://a", sentinels: ["a:26379"], name: b }',
      '1:15 redis.url: leave it out where redis.sentinels says where Redis is',
    ],
    [
      'a password beside a URL',
      'redis: { url: "redis://a", password: b }',
      '1:38 redis.password: only with redis.sentinels or redis.cluster: a URL has it in itself',
    ],
    [
      'the name of a primary beside a URL',
      'redis: { url: "redis://a", name: b }',
      '1:34 redis.name: only with redis.sentinels',
    ],
    [
      'replicas of the private Redis',
      'redis: { replicas: 1 }',
      '1:20 redis.replicas: the private Redis has none: set redis.url, redis.sentinels or redis.cluster',
    ],
    [
      'a Cluster beside Sentinels',
      'redis: { sentinels: ["a:26379"], name: b, cluster: ["a:6379"] }',
      '1:52 redis.cluster: leave it out where redis.sentinels says where Redis is',
    ],
    [
      'a password of Sentinels beside a Cluster',
      'redis: { cluster: ["a:6379"], sentinel_password: b }',
      '1:50 redis.sentinel_password: only with redis.sentinels',
    ],
    [
      'too many shards',
      'redis: { cluster: ["a:6379"], shards: 17 }',
      '1:39 redis.shards: expected a whole number from 1 to 16',
    ],
    [
      'an unknown company of a token',
      'companies: [{ company_id: 7, apikey: k }]\nadmin: { tokens: [{ token: a-long-token-7d2c, companies: [07, 8] }] }',
      '2:63 admin.tokens[0].companies[1]: company 8 is not among the companies of gateway.yaml',
    ],
    [
      'a token for no company',
      'admin: { tokens: [{ token: a-long-token-7d2c, companies: [] }] }',
      '1:58 admin.tokens[0].companies: expected at least one company_id',
    ],
    [
      'the protocol auto over HTTP',
      'listeners: [{ transport: http, port: 1, protocol: auto }]',
      '1:26 listeners[0].transport: expected tcp or udp for auto',
    ],
    [
      'an old server that is no host',
      'listeners: [{ transport: tcp, port: 1, protocol: auto, trial: { host: "http://old", port: 5027 } }]',
      '1:71 listeners[0].trial.host: expected a host name, or an IP address without brackets',
    ],
    [
      'an old server with an address in brackets',
      'listeners: [{ transport: tcp, port: 1, protocol: auto, trial: { host: "[::1]", port: 5027 } }]',
      '1:71 listeners[0].trial.host: expected a host name, or an IP address without brackets',
    ],
    [
      'an old server without a port',
      'listeners: [{ transport: tcp, port: 1, protocol: auto, trial: { host: old.example } }]',
      '1:63 listeners[0].trial.port: missing',
    ],
    ['a provider without TLS', oidc({ issuer: 'http://sso.example' }), `3:13 admin.oidc.issuer: ${ISSUER_EXPECTED}`],
    ['a provider with a query', oidc({ issuer: 'https://a/?b=c' }), `3:13 admin.oidc.issuer: ${ISSUER_EXPECTED}`],
    ['a sign-in for no group', oidc({ roles: '{}' }), '6:12 admin.oidc.roles: expected at least one group'],
    ['a group without a role', oidc({ roles: '{ a: { companies: [7] } }' }), '6:17 admin.oidc.roles.a.role: missing'],
    [
      'a group with an unknown company',
      oidc({ roles: '{ a: { role: read, companies: [7, 8] } }' }),
      '6:46 admin.oidc.roles.a.companies[1]: company 8 is not among the companies of gateway.yaml',
    ],
    [
      'a misspelt key of a group',
      oidc({ roles: '{ a: { role: read, company: [7] } }' }),
      '6:31 admin.oidc.roles.a.company: unknown key: did you mean companies?',
    ],
    ['scopes without openid', oidc({ scopes: 'profile' }), `7:13 admin.oidc.scopes: ${SCOPES_EXPECTED}`],
    ['a page without TLS', oidc({ more: 'url: http://gateway.example' }), `8:10 admin.oidc.url: ${PAGE_EXPECTED}`],
    ['a page below a path', oidc({ more: 'url: https://a.example/b' }), `8:10 admin.oidc.url: ${PAGE_EXPECTED}`],
    ['an alias of itself', 'companies: &a [*a]', '1:16 companies[0]: this alias refers to itself'],
  ])('check reports %s in gateway.yaml', async (_, text, mistake) =>
    expect((await mistakes(text))[0]).toBe(`gateway.yaml:${mistake}`),
  )

  it('gateway.yaml sets the sign-in: an issuer without its last slash, and one on this machine without TLS', async () => {
    const { admin } = await config(
      oidc({ issuer: 'https://sso.example/o/w/', roles: '{ a: { role: operate, companies: [07] } }' }),
    )
    expect(admin.oidc).toEqual({
      issuer: 'https://sso.example/o/w/',
      client_id: 'w',
      client_secret: 'a-long-secret-7d2c',
      scopes: 'openid groups',
      groups_claim: 'groups',
      roles: { a: { role: 'operate', companies: ['7'] } },
      url: null,
    })
    expect((await config(oidc({ issuer: 'http://[::1]:9000' }))).admin.oidc?.issuer).toBe('http://[::1]:9000')
    const { url } = (await config(oidc({ more: 'url: https://gateway.example/' }))).admin.oidc ?? {}
    expect(url).toBe('https://gateway.example')
  })

  it('gateway.yaml sets alerts: e-mail, quiet hours in minutes, severities', async () => {
    const text =
      'alerts: { flap: 0s, webhooks: [{ url: "https://hooks.example/a?b=c", min_severity: error }], ' +
      'mail: { smtp: "smtps://a:b@mail.example", from: GPS <a@example.com>, to: [b@example.com] }, ' +
      'quiet_hours: { from: "22:00", until: "6:30" }, daily: { at: "20:00" } }'
    expect((await config(text)).alerts).toEqual({
      webhooks: [{ url: 'https://hooks.example/a?b=c', min_severity: 'error', format: 'waybridge', companies: null }],
      mail: {
        smtp: 'smtps://a:b@mail.example',
        from: 'GPS <a@example.com>',
        to: ['b@example.com'],
        min_severity: 'warning',
      },
      quiet_hours: { from: 1320, until: 390, except: 'error' },
      daily: { at: 1200, language: 'en' },
      flap: 0,
      page_url: null,
    })
  })

  it('reports all mistakes of gateway.yaml at once, in the order of the file', async () => {
    const text =
      'workers: 0\nbatch: { max_positions: 0, x: 1 }\nlisteners:\n- { transport: tcp, port: 1, protocol: teltonika }\n- { transport: tcp, port: 1 }\n'
    expect(await mistakes(text)).toEqual([
      'gateway.yaml:1:10 workers: expected a whole number from 1 to 1024',
      'gateway.yaml:2:25 batch.max_positions: expected a whole number from 1 to 100000',
      'gateway.yaml:2:28 batch.x: unknown key: expected one of max_positions, max_wait',
      'gateway.yaml:5:3 listeners[1].protocol: missing',
      'gateway.yaml:5:27 listeners[1].port: listeners[0] already uses tcp port 1',
    ])
  })

  it('reports lists that are nested too deeply in gateway.yaml', async () =>
    expect((await mistakes('['.repeat(50_000)))[0]).toMatch(/^gateway\.yaml:1:\d+ nested too deeply$/))

  it('reports at most 20 syntax errors of one file', async () =>
    expect(await mistakes('"'.repeat(1000))).toHaveLength(20))

  it('gateway.yaml sets old servers behind trial listeners, which push nothing by default', async () => {
    const one = '{ transport: tcp, port: 1, protocol: auto, trial: { host: old.example, port: 5027 } }'
    const other = '{ transport: udp, port: 1, protocol: auto, trial: { host: "::1", port: 5027, push: true } }'
    const { listeners } = await config(`listeners: [${one}, ${other}]`)
    expect(listeners.map(({ trial }) => trial)).toEqual([
      { host: 'old.example', port: 5027, push: false },
      { host: '::1', port: 5027, push: true },
    ])
  })

  it('every key of gateway.yaml and tracking.yaml has a description for config/reference.yaml', () => {
    const keys = [...configKeys(configSchema(PROTOCOLS)), ...configKeys(TRACKING)]
    expect(keys.filter(({ description }) => !description.endsWith('.'))).toEqual([])
    expect(keys.length).toBeGreaterThan(70)
  })

  it('gateway.yaml is refused if its aliases expand to too many values', async () => {
    const levels = Array.from({ length: 30 }, (_, i) => `- &a${i + 1} [${`*a${i}, `.repeat(9)}]`)
    const found = await mistakes(`companies:\n- &a0 [x]\n${levels.join('\n')}`)
    expect(found.filter((line) => line.endsWith('this alias stands for more than 1000 values')).length).toBeGreaterThan(
      0,
    )
  })

  it.each([
    'https://tiles.example/',
    'https://tiles.example/{z}/{x}/{y}/{s}.png',
    'https://{z}/{x}/{y}.mvt',
    'https://me:secret@tiles.example/map.pmtiles',
    's3://tiles.example/map.pmtiles',
    'map.mbtiles',
  ])('gateway.yaml refuses tiles that the map cannot show: %s', async (tiles) => {
    expect(await mistakes(`page: { tiles: "${tiles}" }`)).toEqual([`gateway.yaml:${NO_TILES}`])
  })
})

describe('ports', () => {
  const LISTENER = 'transport: tcp, port: 5000, protocol: teltonika'

  it.each([
    [
      'of two listeners',
      `listeners: [{ ${LISTENER} }, { ${LISTENER} }]`,
      ['gateway.yaml:1:90 listeners[1].port: listeners[0] already uses tcp port 5000'],
    ],
    [
      'of a listener and one on every address',
      `listeners: [{ ${LISTENER}, host: 10.0.0.1 }, { ${LISTENER} }]`,
      ['gateway.yaml:1:106 listeners[1].port: listeners[0] already uses tcp port 5000'],
    ],
    [
      'of HTTP and TCP',
      `listeners: [{ ${LISTENER} }, { transport: http, port: 5000, protocol: osmand }]`,
      ['gateway.yaml:1:91 listeners[1].port: listeners[0] already uses tcp port 5000'],
    ],
    [
      'of the broker',
      'mqtt: { broker: { port: 5055 } }',
      ['gateway.yaml:1:25 mqtt.broker.port: listeners[4] already uses tcp port 5055'],
    ],
    [
      'of the admin port and the usual one of the tracking service',
      'admin: { port: 8090 }',
      ['gateway.yaml:1:16 admin.port: tracking.listen already uses tcp port 8090'],
    ],
    ['of two addresses: none', `listeners: [{ ${LISTENER}, host: 10.0.0.1 }, { ${LISTENER}, host: 10.0.0.2 }]`, []],
    [
      'of UDP and TCP: none',
      'mqtt: { broker: null }\nlisteners: [{ transport: udp, port: 1883, protocol: teltonika }, { transport: tcp, port: 1883, protocol: teltonika }]',
      [],
    ],
    ['of any free port: none', 'admin: { port: 0 }\nmonitor: { port: 0 }', []],
    ['of a tracking service that is not embedded: none', 'tracking: { base_url: http://a }\nadmin: { port: 8090 }', []],
  ])('check reports a port conflict %s', async (_, text, expected) => expect(await mistakes(text)).toEqual(expected))
})

describe('texts of settings', () => {
  it('a reference in a setting is replaced with a variable, a default or the text of a file', async () => {
    const dir = await folder({ secret: 'from file\n' })
    vi.stubEnv('WB_TEST_PORT', '9000')
    vi.stubEnv('WB_TEST_EMPTY', '')
    await writeFile(
      join(dir, 'gateway.yaml'),
      `admin: { port: "\${env:WB_TEST_PORT}", host: "\${env:WB_TEST_EMPTY:-127.0.0.2}" }
companies: [{ company_id: "\${env:WB_TEST_NONE:-7}", apikey: "\${file:${dir}/secret}", name: "a \${b}" }]`,
    )
    const { config: read } = await loadConfig(dir, PROTOCOLS)
    expect(read.admin).toMatchObject({ port: 9000, host: '127.0.0.2' })
    expect(read.companies).toEqual([{ company_id: '7', apikey: 'from file', name: 'a ${b}' }])
  })

  it.each([
    ['${env:WB_TEST_NONE}', 'the environment variable WB_TEST_NONE is not set'],
    ['${file:/nowhere/at/all}', 'the file /nowhere/at/all cannot be read (ENOENT)'],
    ['redis://${env:WB_TEST_NONE}/', 'a reference such as ${env:NAME} must be the whole value'],
  ])('a reference in a setting that cannot be resolved is reported: %s', async (reference, mistake) =>
    expect(await mistakes(`redis: { url: "${reference}" }`)).toEqual([`gateway.yaml:1:15 redis.url: ${mistake}`]),
  )

  it.each([
    'redis://ss#canary@redis:6379',
    'redis://ss/canary@redis:6379',
    'redis://:1?canary@redis:6379',
    'rediss://user:12/canary@redis',
    'redis://:canary%@redis',
    'unix:///run/redis.sock?password=canary#1',
  ])('a password that would end the URL of Redis is explained: %s', async (url) => {
    vi.stubEnv('WB_TEST_REDIS', url)
    const [mistake, ...others] = await mistakes('redis: { url: "${env:WB_TEST_REDIS}" }')
    expect(others).toEqual([])
    expect(mistake).toContain('redis.url: percent-encode what is special in the user name and the password: %23 for #')
    expect(mistake).not.toContain('canary')
  })

  it('a password that would end the URL of the mail server is explained', async () => {
    const mail = '{ smtp: "smtps://ops:1#canary@mail.example", from: a@example.com, to: [b@example.com] }'
    const [mistake] = await mistakes(`alerts: { mail: ${mail} }`)
    expect(mistake).toContain('alerts.mail.smtp: percent-encode what is special')
    expect(mistake).not.toContain('canary')
  })

  it.each([
    'redis://redis:6379',
    'redis://:a+b=@redis:6379/0',
    'rediss://user:p%23%2Fss@redis?family=6',
    'redis://:a@b@redis',
    'unix:///run/redis.sock?password=a/b&db=1',
  ])('gateway.yaml accepts the Redis URL %s', async (url) =>
    expect(await mistakes(`redis: { url: "${url}" }`)).toEqual([]),
  )

  it.each(['redis://redis/zero', 'redis://redis#0', 'redis://', 'http://redis', 'unix://run/redis.sock'])(
    'gateway.yaml refuses the Redis URL %s',
    async (url) =>
      expect(await mistakes(`redis: { url: "${url}" }`)).toEqual([
        expect.stringContaining('redis.url: expected a URL'),
      ]),
  )

  it('a mistake of gateway.yaml never shows a secret', async () => {
    vi.stubEnv('WB_TEST_SECRET', 'canary-1')
    const texts = [
      'admin: { port: "${env:WB_TEST_SECRET}" }\nredis: { url: "http://canary-2@host" }',
      'companies: [{ company_id: 7, apikey: [canary-3], oauth_token: { a: canary-4 } }]\nlog: "canary-5"',
      'companies:\n  apikey: "canary-6\nadmin: @canary-7',
      'a: b: canary-8\n"canary-9',
    ]
    const found = await Promise.all(texts.map(mistakes))
    expect(found.map((lines) => lines.length > 0)).toEqual([true, true, true, true])
    expect(found.flat().join('\n')).not.toContain('canary')
  })
})
