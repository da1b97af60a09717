import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { apiOf } from '../../src/admin/apis.ts'
import { configSchema } from '../../src/config/schema.ts'
import { createLogger } from '../../src/observe/log.ts'
import { ApiClients, type ApiClientsOptions } from '../../src/process/roles/api-clients.ts'
import { type TestApi, startApi } from '../rig/api.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { folder } from '../support/config-folder.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })

async function open(): Promise<TestApi> {
  const api = await startApi()
  onTestFinished(api.close)
  return api
}

const read = (tracking: object | null) =>
  configSchema(null).parse({ companies: [{ company_id: '7', apikey: 'k', tracking }] })
const opened = (config: ReturnType<typeof read>, baseUrl: string, again: ApiClientsOptions['again'] = () => {}) => {
  const clients = new ApiClients({ config, baseUrl, connections: () => 1, again, logger }, config.companies)
  onTestFinished(() => clients.close())
  return clients
}
const keysAt = (api: TestApi) => api.seen.map(({ apikey }) => apikey)

it('the apikey of a company is sent to no earlier API while the TLS files of the new one cannot be used', async () => {
  const dir = await folder({ 'ca.pem': 'no certificate' })
  const [usual, before, next] = [await open(), await open(), await open()]
  const config = read({ base_url: before.url })
  const clients = opened(config, usual.url)
  const push = (apikey: string) => clients.of('7').push({ courier: '1', route: '1', apikey, body: '{}' })
  await push('first')
  const ca = join(dir, 'ca.pem')
  // Requests to the same API continue with its previous settings.
  clients.use(read({ base_url: before.url, tls: { ca } }).companies)
  await push('second')
  clients.use(read({ base_url: next.url, tls: { ca } }).companies)
  expect(await push('third')).toMatchObject({ fault: 'failed' })
  await writeFile(ca, '')
  clients.use(read({ base_url: next.url }).companies)
  await push('fourth')
  clients.use(read(null).companies)
  await push('fifth')
  expect([keysAt(before), keysAt(next), keysAt(usual)]).toEqual([['first', 'second'], ['fourth'], ['fifth']])
})

it('unusable TLS files of a company are tried again until they can be used', async () => {
  const dir = await folder({ 'ca.pem': 'half of a certificate' })
  const certificates = await CertificateMaker.create()
  onTestFinished(() => certificates.remove())
  const [usual, own] = [await open(), await open()]
  const ca = join(dir, 'ca.pem')
  const { companies } = read({ base_url: own.url, tls: { ca } })
  const clients = opened(read(null), usual.url, () => clients.use(companies))
  const push = () => clients.of('7').push({ courier: '1', route: '1', apikey: 'k', body: '{}' })
  clients.use(companies)
  expect(await push()).toMatchObject({ fault: 'failed' })
  await writeFile(ca, (await certificates.authority('authority')).cert)
  await expect.poll(push, { timeout: 30_000, interval: 500 }).toMatchObject({ status: 200 })
})

it('a renewed CA of the common API is trusted at once, and the previous one while its file cannot be used', async () => {
  const certificates = await CertificateMaker.create()
  onTestFinished(() => certificates.remove())
  const [before, after] = [await certificates.server('before'), await certificates.server('after')]
  const api = createServer({ cert: before.cert, key: before.key }, (request, response) => {
    request.resume().once('end', () => response.end())
  })
  const [port] = await freePorts(1)
  await listening(api, port)
  onTestFinished(() => api.close().closeAllConnections())
  const ca = join(certificates.dir, 'ca.pem')
  await writeFile(ca, before.cert)
  const config = configSchema(null).parse({ tracking: { base_url: `https://localhost:${port}`, tls: { ca } } })
  const { usual } = opened(config, `https://localhost:${port}`)
  const tested = apiOf(config, `https://localhost:${port}`)
  const push = () => usual.push({ courier: '1', route: '1', apikey: 'k', body: '{}' })
  expect(await push()).toMatchObject({ status: 200 })
  await writeFile(ca, 'half of a certificate')
  api.closeAllConnections()
  await expect.poll(push, { timeout: 10_000 }).toMatchObject({ status: 200 })
  expect(tested.tls?.ca).toContain(before.cert)
  await writeFile(ca, after.cert)
  api.setSecureContext({ cert: after.cert, key: after.key })
  api.closeAllConnections()
  await expect.poll(push, { timeout: 10_000 }).toMatchObject({ status: 200 })
  expect(tested.tls?.ca).toContain(after.cert)
})
