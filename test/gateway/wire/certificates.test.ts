import mqtt from 'mqtt'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import { gateway, open, refusals, talk, until } from '../../support/listen.ts'
import { position, protocolNamed } from '../../support/mqtt.ts'
import { dialTls, tlsWith } from '../../support/tls.ts'

const AT = { host: '127.0.0.1', port: 0 }
/** A second device whose entry lists the certificate of `locked`. */
const MAPPED = { id: '99', company_id: '7', courier_id: '9', route_id: '9', source: 'devices.yaml:9' }

let certificates: CertificateMaker
let server: Issued
let fleet: Issued
let locked: Issued

beforeAll(async () => {
  certificates = await CertificateMaker.create()
  server = await certificates.server('server')
  fleet = await certificates.authority('fleet')
  locked = await certificates.issue('locked', { cn: 'locked', by: fleet })
})
afterAll(() => certificates.remove())

/** Logs a device in with the certificate of `locked`. Returns its answers and the places of its fixes. */
async function says(id: string, admitsUnknown: boolean): Promise<string> {
  const shared = gateway({ admitsUnknown })
  await shared.configure({ ...MAPPED, client_certificate: ['locked'] })
  const tls = tlsWith(server, { client_ca: fleet.files.cert })
  const { port } = await open(listenTcp({ ...AT, protocol: talk, tls }, shared))
  const peer = await dialTls(port, { ca: server.cert, cert: locked.cert, key: locked.key })
  peer.say(`id ${id}\nfix 1\n`)
  await until(() => expect(peer.over || peer.heard.includes('ok 1\n')).toBe(true))
  return `${peer.heard}${shared.places.join()}`
}

it('accepts the client certificate that has the name of a device in place of its secret', async () =>
  expect(await says('locked', false)).toBe('hi\nok 1\n7/44/1003'))

it('accepts a client certificate that the entry of a device lists', async () =>
  expect(await says('99', false)).toBe('hi\nok 1\n7/9/9'))

it.for([
  ['van-1', false],
  ['van-1', true],
  ['nobody', false],
  ['nobody', true],
] as const)(
  'refuses the id %s on a connection with the certificate of another device (hold.unknown: %s)',
  async ([id, admitsUnknown]) => {
    const refused = await refusals('other_device')
    expect([await says(id, admitsUnknown), (await refused()) > 0]).toEqual(['no\n', true])
  },
)

it('stores fixes of a relay for devices whose entries list its certificate, and refuses others', async () => {
  const shared = gateway()
  await shared.configure({ ...MAPPED, client_certificate: ['locked'] })
  const tls = tlsWith(server, { client_ca: fleet.files.cert })
  const { port } = await open(listenTcp({ ...AT, protocol: talk, tls }, shared))
  const peer = await dialTls(port, { ca: server.cert, cert: locked.cert, key: locked.key })
  const refused = await refusals('other_device')
  peer.say('relay locked van-1 99\n')
  await until(() => expect(peer.heard).toBe('ok\n'))
  peer.say('relay 99\n')
  await until(() => expect(peer.heard).toBe('ok\nok\n'))
  expect([shared.places.toSorted(), await refused(), peer.over]).toEqual([['7/44/1003', '7/9/9', '7/9/9'], 1, false])
})

it('accepts a client certificate as an MQTT login without a password', async () => {
  const shared = gateway()
  const tls = tlsWith(server, { client_ca: fleet.files.cert })
  const parts = { ...shared, protocolNamed }
  const { port } = await open(listenMqtt({ ...AT, tls }, parts))
  const connect = (username: string) => {
    const options = { username, ca: server.cert, cert: locked.cert, key: locked.key, reconnectPeriod: 0 }
    const client = mqtt.connect(`mqtts://localhost:${port}`, options)
    onTestFinished(() => void client.end(true))
    return client
  }
  const van = connect('locked')
  await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
  expect(shared.places).toEqual(['7/44/1003'])
  const code = await new Promise((resolve) =>
    connect('van-1').on('error', (error) => resolve(Reflect.get(error, 'code'))),
  )
  expect(code).toBe(5)
})
