import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import mqtt from 'mqtt'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { type Product, runProduct } from '../rig/product.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { waybridgeProcess } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { until } from '../support/listen.ts'
import { dialTls } from '../support/tls.ts'

const IMEI = '356307042441013'
const VAN = 'van-1'

let certificates: CertificateMaker
let server: Issued
let fleet: Issued
let product: Product

beforeAll(async () => {
  certificates = await CertificateMaker.create()
  server = await certificates.server('server', { days: 10 })
  fleet = await certificates.authority('fleet')
  const dir = certificates.dir
  const tls = 'cert: server.pem, key: server.key'
  await writeFile(
    join(dir, 'gateway.yaml'),
    `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
listeners: [{ transport: tcp, protocol: teltonika, port: 0, host: 127.0.0.1, tls: { ${tls} } }]
mqtt: { broker: { host: 127.0.0.1, port: 0, tls_port: 0, tls: { ${tls}, client_ca: fleet.pem } } }
tracking: { listen: { host: 127.0.0.1, port: 0 } }
admin: { port: 0 }
batch: { max_wait: 100ms }
companies: [{ company_id: 7, apikey: canary-apikey, oauth_token: canary-oauth }]
log: { format: json, level: debug }
`,
  )
  await writeFile(
    join(dir, 'devices.yaml'),
    `"${IMEI}": { company_id: 7, courier_id: 42, route_id: 1001 }\n${VAN}: { company_id: 7, courier_id: 43, route_id: 1002 }\n`,
  )
  product = await runProduct(dir)
})
afterAll(async () => {
  await product.end()
  await certificates.remove()
})

it('a tracker over TLS and an MQTT client with its certificate are acknowledged and delivered', async () => {
  expect(Object.keys(product.ports)).toEqual(expect.arrayContaining(['tcp/teltonika', 'mqtt', 'mqtts', 'admin']))
  const time = Math.floor(Date.now() / 1000) - 5
  const peer = await dialTls(product.ports['tcp/teltonika'], { ca: server.cert })
  peer.say(teltonika.login!(IMEI).bytes)
  const fix = { time: time * 1000, latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
  peer.say(teltonika.packet([fix], { id: IMEI, serial: 1 }).bytes)
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))

  const own = await certificates.issue('van', { cn: VAN, by: fleet })
  const client = mqtt.connect(`mqtts://localhost:${product.ports.mqtts}`, {
    username: VAN,
    ca: server.cert,
    cert: own.cert,
    key: own.key,
    reconnectPeriod: 0,
  })
  onTestFinished(() => void client.end(true))
  const position = JSON.stringify({ lat: 50.1, lon: 8.7, timestamp: time })
  await client.publishAsync(`devices/${VAN}/fix`, position, { qos: 1 })
  for (const route of ['1001', '1002'])
    await until(async () => expect((await product.positions(route, time - 60, time + 60)).length).toBe(1))
})

it('a certificate that ends within 14 days is a finding for each port that uses it', async () => {
  interface Status {
    findings: { code: string; subject: { listener?: string }; evidence: string[]; action: string }[]
  }
  await until(async () => {
    const { findings } = await product.admin<Status>('/admin/status')
    const ends = findings.filter(({ code }) => code === 'certificate_expires')
    expect(new Set(ends.map(({ subject }) => subject.listener))).toEqual(new Set(['mqtts', 'tcp/teltonika']))
    for (const { evidence } of ends) expect(evidence[0]).toContain(`${server.files.cert} ends 20`)
  })
})

it('a start with an unreadable certificate ends with exit code 78, and names file and key', async () => {
  const yaml = `
redis: { url: "redis://127.0.0.1:1" }
mqtt: { broker: null }
listeners: [{ transport: tcp, protocol: teltonika, port: 0, tls: { cert: missing.pem, key: missing.key } }]
`
  const cwd = await folder({ 'config/gateway.yaml': yaml })
  const file = join(cwd, 'config/missing.pem')
  const place = `config/gateway.yaml:4:${yaml.split('\n')[3].indexOf('missing.pem') + 1}`
  const message = `the file ${file} cannot be read (ENOENT)`
  for (const [command, exit, sentence] of [
    ['check', 1, `${place} listeners[0].tls.cert: ${message}`],
    ['start', 78, `${place} listeners[0].tls.cert: ${message}`],
    ['gateway', 78, `cannot open tcp/teltonika with TLS: tls.cert: ${message}`],
  ] as const) {
    const { code, errors, out } = await waybridgeProcess([command], { cwd })
    expect([command, code]).toEqual([command, exit])
    expect(out + errors).toContain(sentence)
  }
})
