import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial, startProduct } from '../rig/product.ts'
import { webhookReceiver } from '../support/alerts.ts'
import { listening } from '../support/listening.ts'
import { signal } from '../support/processes.ts'

const soon = { timeout: 60_000 }
const ID = '356307042441013'
const DEVICES = `"${ID}": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }`

it('no alert reports missing processes during a shutdown that a push delays for seconds', async () => {
  const receiver = await webhookReceiver()
  onTestFinished(receiver.close)
  const api = createServer()
  onTestFinished(() => {
    api.closeAllConnections()
    api.close()
  })
  const url = `http://127.0.0.1:${await listening(api)}`
  const pushed = once(api, 'request') as Promise<[unknown, ServerResponse]>
  const product = await startProduct(
    { 'devices.yaml': DEVICES },
    `tracking: { base_url: "${url}" }\nalerts: { webhooks: [{ url: "${receiver.url}", min_severity: info }] }\n`,
  )
  const line = await dial(product.ports['tcp/teltonika'])
  const fix = { time: Date.now(), latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
  line.socket.write(Buffer.concat([teltonika.login!(ID).bytes, teltonika.packet([fix], { id: ID, serial: 1 }).bytes]))
  const [, response] = await pushed
  // From now on a missing sign of life would be a finding.
  const told = () => receiver.posts.map(({ body }) => JSON.parse(body) as { code: string; change: string })
  const [gateway] = product.pidsOf('gateway')
  signal(gateway, 'SIGSTOP')
  await expect.poll(told, soon).toContainEqual(expect.objectContaining({ code: 'no_gateway', change: 'begins' }))
  signal(gateway, 'SIGCONT')
  await expect.poll(told, soon).toContainEqual(expect.objectContaining({ code: 'no_gateway', change: 'ends' }))
  // The log line may be written later.
  await expect.poll(() => product.said(), soon).toMatch(/has ended: no gateway gives a sign of life/)
  const [saidBefore, toldBefore] = [product.said().length, told().length]
  const ended = product.end()
  // Long enough for an admin process that still runs to report it.
  await pause(2000)
  response.end()
  expect(await ended).toBe(0)
  expect(product.said().slice(saidBefore)).not.toContain('gives a sign of life')
  const codes = told()
    .slice(toldBefore)
    .map(({ code }) => code)
  expect(codes.filter((code) => code === 'no_gateway' || code === 'no_worker')).toEqual([])
})
