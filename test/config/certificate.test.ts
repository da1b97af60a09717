import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/files.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { checked, folder, PROTOCOLS } from '../support/config-folder.ts'

let certificates: CertificateMaker
let server: Issued
let other: Issued
let text: { cert: string; key: string }

beforeAll(async () => {
  certificates = await CertificateMaker.create()
  server = await certificates.server('server')
  other = await certificates.server('other')
  text = { cert: server.cert, key: server.key }
})
afterAll(() => certificates.remove())

const LISTENER = 'transport: tcp, port: 5127, protocol: teltonika'

describe('check', () => {
  it('check accepts certificates relative to the folder of gateway.yaml, for listeners, broker and admin port', async () => {
    const tls = 'tls: { cert: tls/cert.pem, key: tls/key.pem }'
    const yaml = `
listeners: [{ ${LISTENER}, ${tls} }]
mqtt: { broker: { ${tls} } }
admin: { host: 0.0.0.0, ${tls} }
`
    const files = { 'gateway.yaml': yaml, 'tls/cert.pem': text.cert, 'tls/key.pem': text.key }
    expect(await checked(files)).toEqual({ mistakes: [], warnings: [] })
    const dir = await folder(files)
    const { config } = await loadConfig(dir, PROTOCOLS)
    expect(config.listeners[0].tls).toEqual({
      cert: join(dir, 'tls/cert.pem'),
      key: join(dir, 'tls/key.pem'),
      client_ca: null,
      profile: 'intermediate',
    })
    expect(config.mqtt.broker).toMatchObject({ tls_port: 8883, proxy_protocol: false, tls: { client_ca: null } })
  })

  it.each([
    ['is missing', 'cert: /nowhere.pem, key: KEY', 'cert: the file /nowhere.pem cannot be read (ENOENT)', 'cert: '],
    ['is no certificate', 'cert: KEY, key: KEY', 'cert: KEY is no certificate in PEM', 'cert: '],
    ['is no key', 'cert: CERT, key: CERT', 'key: CERT is no private key in PEM without a passphrase', 'key: '],
    [
      'is the key of another certificate',
      'cert: CERT, key: OTHER',
      'key: the key in OTHER does not belong to the certificate in CERT',
      'key: ',
    ],
    [
      'is no authority',
      'cert: CERT, key: KEY, client_ca: KEY',
      'client_ca: KEY is no certificate in PEM',
      'client_ca: ',
    ],
  ])('check names file and key of a certificate if a file %s', async (_, tls, mistake, key) => {
    const files = { KEY: server.files.key, CERT: server.files.cert, OTHER: other.files.key }
    const named = (line: string) =>
      Object.entries(files).reduce((filled, [name, file]) => filled.replaceAll(name, file), line)
    const yaml = `mqtt: { broker: { tls: { ${named(tls)} } } }\n`
    const { mistakes } = await checked({ 'gateway.yaml': yaml })
    const column = yaml.indexOf(key, yaml.indexOf('tls')) + key.length + 1
    expect(mistakes).toEqual([`gateway.yaml:1:${column} mqtt.broker.tls.${named(mistake)}`])
    await expect(loadConfig(await folder({ 'gateway.yaml': yaml }), PROTOCOLS)).rejects.toThrow(named(mistake))
  })

  it('check does not quote the content of a certificate file', async () => {
    const dir = await folder({ 'canary.pem': 'canary-key' })
    const broken = join(dir, 'broken.pem')
    await writeFile(broken, (await readFile(server.files.key, 'utf8')).replace('PRIVATE', 'canary-private'))
    for (const file of ['canary.pem', 'broken.pem'].map((name) => join(dir, name))) {
      const yaml = `admin: { tls: { cert: ${server.files.cert}, key: ${file} } }`
      const { mistakes } = await checked({ 'gateway.yaml': yaml })
      expect(mistakes.join().replaceAll('canary.pem', '')).not.toContain('canary-')
      expect(mistakes.length).toBe(1)
    }
  })
})

const mistakes = async (yaml: string) => (await checked({ 'gateway.yaml': yaml })).mistakes

it.each([['0.0.0.0'], ['"::"'], ['192.168.1.7'], ['gateway.example.com']])(
  'check refuses the admin port on %s without TLS, and says what to do',
  async (host) => {
    expect(await mistakes(`admin: { host: ${host} }`)).toEqual([
      'gateway.yaml:1:16 admin.host: other machines reach this address: set admin.tls, or admin.behind_proxy: true if a proxy with TLS is in front',
    ])
    expect(await mistakes(`admin: { host: ${host}, behind_proxy: true }`)).toEqual([])
  },
)

it.each(['127.0.0.1', '127.1.2.3', '"::1"', 'localhost'])(
  'check accepts the admin port on %s without TLS',
  async (host) => expect(await mistakes(`admin: { host: ${host} }`)).toEqual([]),
)

it.each([
  [
    'a PROXY header without trusted proxies',
    `listeners: [{ ${LISTENER}, proxy_protocol: true }]`,
    `listeners[0].proxy_protocol: trusted_proxies is empty: list the addresses of the proxies there`,
  ],
  [
    'a broker behind no trusted proxy',
    'mqtt: { broker: { proxy_protocol: true } }',
    'mqtt.broker.proxy_protocol: trusted_proxies is empty: list the addresses of the proxies there',
  ],
  [
    'TLS over UDP',
    'listeners: [{ transport: udp, port: 1, protocol: teltonika, tls: { cert: a, key: b } }]',
    'listeners[0].tls: only for the transports tcp and http',
  ],
  [
    'a PROXY header over UDP',
    'trusted_proxies: [10.0.0.1]\nlisteners: [{ transport: udp, port: 1, protocol: teltonika, proxy_protocol: true }]',
    'listeners[0].proxy_protocol: only for the transports tcp and http',
  ],
  [
    'what is no network',
    `listeners: [{ ${LISTENER}, networks: [10.0.0.0/33] }]`,
    'listeners[0].networks[0]: expected a network such as 10.20.0.0/16, or an address',
  ],
  [
    'a proxy by its name',
    'trusted_proxies: [proxy]',
    'trusted_proxies[0]: expected a network such as 10.20.0.0/16, or an address',
  ],
  [
    'an unknown profile',
    'admin: { tls: { cert: a, key: b, profile: new } }',
    'admin.tls.profile: expected one of intermediate, old',
  ],
  ['a certificate without its key', 'admin: { tls: { cert: a } }', 'admin.tls.key: missing'],
  [
    'the port with TLS of the broker twice',
    'mqtt: { broker: { tls: { cert: /a, key: /b }, tls_port: 5027 } }',
    'mqtt.broker.tls_port: listeners[2] already uses tcp port 5027',
  ],
])('check refuses %s', async (_, yaml, mistake) =>
  expect((await mistakes(yaml)).map((line) => line.replace(/^\S+ /, ''))).toEqual([mistake]),
)
