import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import { COMPANY, checked, folder, loadedFolder } from '../support/config-folder.ts'

afterEach(() => vi.unstubAllEnvs())

async function devices(files: Record<string, string>): Promise<readonly Device[]> {
  return (await loadedFolder(await folder({ 'gateway.yaml': COMPANY, ...files }))).devices
}

async function mistakes(files: Record<string, string>): Promise<string[]> {
  return (await checked({ 'gateway.yaml': COMPANY, ...files })).mistakes
}

const KEYS =
  'company_id, name, courier_id, route_id, time_zone, secret, previous_secret, protocol, transports, networks, client_certificate, trial, feed, model, settings'

describe('devices.yaml', () => {
  it('devices.yaml is read into devices', async () => {
    vi.stubEnv('WB_TEST_SECRET', 's3')
    const text = `# fleet
"356307042441013": { name: Van 12, company_id: 7, courier_id: 0042, route_id: 9223372036854775807 }
"356307042441014":
  company_id: 7
  time_zone: +03:00
  secret: "\${env:WB_TEST_SECRET}"
  model: FMB920
  settings: { port: 5, ratio: 0.5, on: true, text: "5", list: [1, a], big: 9223372036854775807 }
`
    expect(await devices({ 'devices.yaml': text })).toEqual([
      {
        id: '356307042441013',
        name: 'Van 12',
        company_id: '7',
        courier_id: '42',
        route_id: '9223372036854775807',
        source: 'devices.yaml:2',
      },
      {
        id: '356307042441014',
        company_id: '7',
        time_zone: '+03:00',
        secret: 's3',
        model: 'FMB920',
        settings: { port: 5, ratio: 0.5, on: true, text: '5', list: [1, 'a'], big: '9223372036854775807' },
        source: 'devices.yaml:3',
      },
    ])
  })

  it.each([
    '0356307042441013',
    '"0356307042441013"',
    "'007'",
    '0x1F',
    '1e5',
    '1_000',
    'van-12',
    '+12',
    'true',
    '9'.repeat(30),
  ])('devices.yaml keeps a device id as it is written: %s', async (key) => {
    const id = key.replace(/["']/g, '')
    for (const value of ['{ company_id: 7 }', '\n  company_id: 7'])
      expect((await devices({ 'devices.yaml': `${key}: ${value}\n` }))[0].id).toBe(id)
  })

  it.each([
    ['no company', '1: { name: x }', '1:4 1.company_id: missing'],
    ['an empty company', '1: { company_id: }', '1:18 1.company_id: missing'],
    ['nothing', '1:', `1:3 1: expected a mapping with ${KEYS}`],
    ['an unknown key', '1: { company_id: 7, curier_id: 1 }', '1:21 1.curier_id: unknown key: did you mean courier_id?'],
    [
      'an id out of int64',
      '1: { company_id: 7, route_id: 9223372036854775808 }',
      '1:31 1.route_id: expected an id of at most 9223372036854775807',
    ],
    [
      'an id that is none',
      '1: { company_id: 7, route_id: x1 }',
      '1:31 1.route_id: expected an id: a whole number from 0 to 9223372036854775807',
    ],
    [
      'an unknown zone',
      '1: { company_id: 7, time_zone: "+3" }',
      '1:32 1.time_zone: expected a time zone such as Europe/Berlin or +03:00',
    ],
    ['settings that are text', '1: { company_id: 7, settings: x }', '1:31 1.settings: expected a mapping'],
    [
      'a variable that is not set',
      '1: { company_id: 7, secret: "${env:WB_TEST_NONE}" }',
      '1:29 1.secret: the environment variable WB_TEST_NONE is not set',
    ],
    ['a secret that is empty', '1: { company_id: 7, secret: "${env:WB_TEST_NONE:-}" }', '1:29 1.secret: expected text'],
    ['an empty list', '1: { company_id: 7, networks: [] }', '1:31 1.networks: expected at least one'],
    ['a key twice', '1: { company_id: 7, company_id: 7 }', '1:21 1.company_id: this key occurs twice'],
    ['a list', '- 1', '1:1 expected a mapping of device ids'],
    ['what is not YAML', '1: { company_id: 7 }\n2: { company_id: "7 }', '2:22 not valid YAML: Missing closing "quote'],
    [
      'an unknown company',
      '1: { company_id: 8 }',
      '1:18 1.company_id: company 8 is not among the companies of gateway.yaml',
    ],
    [
      'a device twice',
      '1: { company_id: 7 }\n1: { company_id: 7 }',
      '2:1 1: this device is already defined at devices.yaml:1',
    ],
    [
      'a device twice, with zeros',
      '1: { company_id: 7 }\n"001":\n  company_id: 7',
      '2:1 001: this device is already defined at devices.yaml:1',
    ],
    [
      'the id of another as name',
      '1: { company_id: 7, name: 002 }\n2: { company_id: 7 }',
      '1:27 1.name: this name is the id of the device at devices.yaml:2',
    ],
    [
      'an id of 65 bytes',
      `${'x'.repeat(65)}: { company_id: 7 }`,
      `1:1 ${'x'.repeat(65)}: expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it`,
    ],
    [
      'an id of 22 characters that are 66 bytes',
      `"${'車'.repeat(22)}": { company_id: 7 }`,
      `1:1 ${'車'.repeat(22)}: expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it`,
    ],
    [
      'an id with a control character',
      '"1\\u0007": { company_id: 7 }',
      '1:1 1 : expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it',
    ],
    [
      'an id with half of a character',
      '"1\\ud83d": { company_id: 7 }',
      '1:1 1\ud83d: expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it',
    ],
    [
      'a name that a terminal would act on',
      '1: { company_id: 7, name: "Van\\u001b[2J" }',
      '1:27 1.name: expected printable text',
    ],
    [
      'what a spreadsheet destroyed',
      '3.56307E+14: { company_id: 7 }',
      '1:1 3.56307E+14: "3.56307E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
    ],
  ])('check reports %s in devices.yaml with its place', async (_, text, mistake) =>
    expect((await mistakes({ 'devices.yaml': text }))[0]).toBe(`devices.yaml:${mistake}`),
  )

  it('devices.yaml accepts an id of 64 bytes', async () =>
    expect(await mistakes({ 'devices.yaml': `x${'車'.repeat(21)}: { company_id: 7 }` })).toEqual([]))

  it('the mistakes of all device files are named at once', async () =>
    expect(
      await mistakes({
        'gateway.yaml': `workers: x\n${COMPANY}`,
        'devices.yaml': '1: { company_id: 8, nmae: x }\n2: { company_id: 7 }\n3: { company_id: 9 }',
        'devices.csv': 'device,company_id\n2,7\n4,x\n',
        'routes.csv': 'device,from\n',
      }),
    ).toEqual([
      'gateway.yaml:1:10 workers: expected a whole number from 1 to 1024',
      'devices.yaml:1:21 1.nmae: unknown key: did you mean name?',
      'devices.yaml:3:18 3.company_id: company 9 is not among the companies of gateway.yaml',
      'devices.csv:2: 2: this device is already defined at devices.yaml:2',
      'devices.csv:3: 4.company_id: expected an id: a whole number from 0 to 9223372036854775807',
      'routes.csv:1: route_id: this column is missing',
    ]))
})

/** Returns two devices with one name. */
function named(other: string): Record<string, string> {
  return {
    'gateway.yaml': 'companies: [{ company_id: 7, apikey: a }, { company_id: 8, apikey: b }]',
    'devices.yaml': `1: { company_id: 7, name: Van, courier_id: 42, route_id: 1 }\n2: { name: Van, ${other} }`,
  }
}

describe('a name of two devices', () => {
  it('a name of two devices is a warning, because they may be two trackers of one van', async () =>
    expect(await checked(named('company_id: 7, courier_id: 42, route_id: 2'))).toEqual({
      mistakes: [],
      warnings: [
        'devices.yaml:2:12 2.name: the device at devices.yaml:1 has the same name: correct only for two trackers of one van',
      ],
    }))
  it('a name of two devices is a mistake in two companies', async () =>
    expect((await checked(named('company_id: 8'))).mistakes).toEqual([
      'devices.yaml:2:12 2.name: the device at devices.yaml:1 has the same name, but another company',
    ]))
  it('a name of two devices is a mistake with two couriers', async () =>
    expect((await checked(named('company_id: 7, courier_id: 43'))).mistakes).toEqual([
      'devices.yaml:2:12 2.name: the device at devices.yaml:1 has the same name, but another courier',
    ]))
})

describe('devices.csv', () => {
  it('devices.csv has the same names as columns, in any order', async () => {
    vi.stubEnv('WB_TEST_SECRET', 's3')
    const text =
      '\ufeffname;device;company_id;courier_id;route_id;time_zone;secret;model;settings\r\n' +
      'Van 12;0356307042441013;07;42;1001;Europe/Berlin;${env:WB_TEST_SECRET};FMB920;"{ ""port"": 5 }"\r\n'
    expect(await devices({ 'devices.csv': text })).toEqual([
      {
        id: '0356307042441013',
        name: 'Van 12',
        company_id: '7',
        courier_id: '42',
        route_id: '1001',
        time_zone: 'Europe/Berlin',
        secret: 's3',
        model: 'FMB920',
        settings: { port: 5 },
        source: 'devices.csv:2',
      },
    ])
  })

  it('devices.csv adds devices to those of devices.yaml', async () => {
    const files = { 'devices.yaml': '1: { company_id: 7 }', 'devices.csv': 'device,company_id\n2,7\n' }
    expect((await devices(files)).map(({ id }) => id)).toEqual(['1', '2'])
  })

  it.each([
    ['a column that is missing', 'device,name\n1,x', '1: company_id: this column is missing'],
    [
      'a column that is unknown',
      'device,company_id,curier_id\n1,7,2',
      '1: curier_id: unknown column: did you mean courier_id?',
    ],
    ['a column twice', 'device,company_id,company_id\n1,7,7', '1: company_id: this column occurs twice'],
    [
      'an id that a spreadsheet destroyed',
      'device,company_id\n3.56307E+14,7',
      '2: 3.56307E+14: "3.56307E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
    ],
    [
      'a device without id',
      'device,company_id\n,7',
      '2: expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it',
    ],
    ['a quotation mark out of place', 'device,company_id\n"1,7', '2: misplaced quotation mark'],
    ['a cell too many', 'device,company_id\n1,7,x', '2: 3 cells, but the header has 2'],
    [
      'a variable that is not set',
      'device,company_id,secret\n1,7,${env:WB_TEST_NONE}',
      '2: 1.secret: the environment variable WB_TEST_NONE is not set',
    ],
  ])('check reports %s in devices.csv with its place', async (_, text, mistake) =>
    expect(await mistakes({ 'devices.csv': text })).toEqual([`devices.csv:${mistake}`]),
  )
})

describe('the guard of a device', () => {
  const READ = {
    protocol: 'teltonika',
    transports: ['tcp', 'udp'],
    networks: ['10.20.0.0/16', '2001:db8::/32', '192.0.2.7'],
    client_certificate: ['van-12', 'van-12-new'],
    secret: 'second-secret',
    previous_secret: 'first-secret',
  }

  it('the guard of a device is read from devices.yaml, as lists or as texts', async () => {
    const lists = `1:
  company_id: 7
  protocol: teltonika
  transports: [tcp, udp]
  networks: [10.20.0.0/16, "2001:db8::/32", 192.0.2.7]
  client_certificate: [van-12, van-12-new]
  secret: second-secret
  previous_secret: first-secret
`
    const texts =
      '2: { company_id: 7, protocol: teltonika, transports: tcp udp, networks: "10.20.0.0/16, 2001:db8::/32 192.0.2.7", client_certificate: van-12 van-12-new, secret: second-secret, previous_secret: first-secret }\n'
    for (const device of await devices({ 'devices.yaml': lists + texts })) expect(device).toMatchObject(READ)
  })

  it('an entry says whether the gateway or the old server of a trial answers a device', async () => {
    const yaml = '1: { company_id: 7, trial: off, feed: true }\n2: { company_id: 7, trial: on }\n'
    const [one, other] = await devices({ 'devices.yaml': yaml })
    expect([one, other]).toMatchObject([{ trial: 'off', feed: true }, { trial: 'on' }])
    const csv = 'device,company_id,trial,feed\n1,7,off,true\n'
    expect(await devices({ 'devices.csv': csv })).toMatchObject([{ trial: 'off', feed: true }])
  })

  it('the guard of a device is read from devices.csv', async () => {
    const text =
      'device;company_id;protocol;transports;networks;client_certificate;secret;previous_secret\n1;7;teltonika;tcp udp;10.20.0.0/16 2001:db8::/32 192.0.2.7;van-12 van-12-new;second-secret;first-secret\n'
    expect((await devices({ 'devices.csv': text }))[0]).toMatchObject(READ)
  })

  it.each([
    ['trial: later', '1:28 1.trial: expected one of on, off'],
    ['feed: yes', '1:27 1.feed: expected true or false'],
    ['protocol: telltonika', '1:31 1.protocol: unknown protocol: did you mean teltonika?'],
    ['transports: [tcp, tls]', '1:39 1.transports[1]: expected one of tcp, udp, http, mqtt'],
    ['transports: []', '1:33 1.transports: expected at least one'],
    ['networks: 10.20.0.0/33', '1:31 1.networks[0]: expected a network such as 10.20.0.0/16, or an address'],
    ['networks: [apn.example]', '1:32 1.networks[0]: expected a network such as 10.20.0.0/16, or an address'],
  ])('the guard of a device is refused with %s', async (entry, mistake) => {
    expect(await mistakes({ 'devices.yaml': `1: { company_id: 7, ${entry} }` })).toEqual([`devices.yaml:${mistake}`])
  })
})

describe('an easily guessed secret', () => {
  it.each([
    ['s3cret', 'too short: use at least 8 characters'],
    ['aaaaaaaaaaaa', 'too easily guessed: use more different characters'],
    ['356307042441013', 'too easily guessed: it is the id of the device'],
    ['12345678', 'too easily guessed: its characters follow each other'],
    ['Password123', 'too easily guessed: it is a common password'],
  ])(
    'check refuses an easily guessed secret and says how to make another one, but it is in effect: %s',
    async (secret, why) => {
      const devicesYaml = `"0356307042441013": { company_id: 7, secret: "${secret}" }`
      const files = { 'gateway.yaml': COMPANY, 'devices.yaml': devicesYaml }
      expect((await checked(files)).mistakes).toEqual([
        `devices.yaml:1:46 0356307042441013.secret: ${why}; make one with: openssl rand -hex 16`,
      ])
      expect((await loadedFolder(await folder(files))).devices).toMatchObject([{ secret }])
    },
  )

  it('check refuses an easily guessed token of the admin port', async () => {
    const gateway = `${COMPANY}admin: { tokens: [abc, { token: "11111111" }, 0b7bd5a2f6bc4b7d9a1f] }\n`
    expect((await checked({ 'gateway.yaml': gateway })).mistakes).toEqual([
      'gateway.yaml:2:19 admin.tokens[0]: too short: use at least 8 characters; make one with: openssl rand -hex 16',
      'gateway.yaml:2:33 admin.tokens[1].token: too easily guessed: use more different characters; make one with: openssl rand -hex 16',
    ])
  })

  it('check refuses an easily guessed key of a webhook', async () => {
    const gateway = `${COMPANY}alerts: { webhooks: [{ url: "https://x.example/a", secret: abc }] }\n`
    expect((await checked({ 'gateway.yaml': gateway })).mistakes).toEqual([
      'gateway.yaml:2:60 alerts.webhooks[0].secret: too short: use at least 8 characters; make one with: openssl rand -hex 16',
    ])
  })

  it.each(['0b7bd5a2f6bc4b7d9a1f', 's3cret&"', 'canary-device', 'correct horse'])(
    'check accepts the secret %s',
    async (secret) => {
      const text = `1: { company_id: 7, secret: ${JSON.stringify(secret)} }`
      expect(await mistakes({ 'devices.yaml': text })).toEqual([])
    },
  )
})
