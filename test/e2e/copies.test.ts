import { expect, it, onTestFinished, vi } from 'vitest'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import { startProduct } from '../rig/product.ts'
import { startCopyReceiver } from '../support/copies.ts'

const soon = { timeout: 60_000, interval: 200 }

/** Returns the section `copies` of gateway.yaml. */
const sectionOf = (...entries: string[]) => `copies:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`

it('copies are sent while another receiver is down, despite kills, and follow gateway.yaml', async () => {
  const [living, dead, renamed] = [
    await startCopyReceiver(),
    await startCopyReceiver(() => undefined),
    await startCopyReceiver(),
  ]
  const deadCopy = `{ name: dead, to: "${dead.url}" }`
  const yaml = sectionOf(`{ name: crm, to: "${living.url}", secret: canary-copy }`, deadCopy)
  const product = await startProduct(
    { 'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1001, name: Van 1 }\n' },
    yaml,
  )
  onTestFinished(async () => void (await product.end()))
  const begin = Math.floor(Date.now() / 1000) - 1000
  let sent = 0
  const send = async (count: number) => {
    for (; count > 0; count--, sent++) {
      const url = `http://127.0.0.1:${product.ports['http/osmand']}/?id=1&lat=52.5&lon=13.4&timestamp=${begin + sent}&batt=80`
      await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), soon)
    }
  }
  const copyNamed = async (name: string) => {
    const { copies: all = [] } = await product.admin<StatusJson>('/admin/status')
    return all.find((copy) => copy.name === name)
  }
  const delivered = (name: string) => expect.poll(async () => (await copyNamed(name))?.delivered, soon)
  const times = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => begin + from + index)

  await send(10)
  await delivered('crm').toBe(10)
  expect(living.seen[0].fixes[0]).toMatchObject({
    device: '1',
    name: 'Van 1',
    route_id: '1001',
    said: { battery_percent: 80 },
  })
  await expect.poll(async () => (await copyNamed('dead'))?.waiting, soon).toBe(10)
  expect((await product.positions('1001', begin, begin + 1000)).length).toBe(10)

  // After a kill, fixes that were not noted as sent are sent again.
  for (const pid of product.pidsOf('worker')) process.kill(pid, 'SIGKILL')
  await send(10)
  await delivered('crm').toBe(20)
  expect([...new Set(living.timesOf('1'))]).toEqual(times(0, 20))
  for (const pid of product.pidsOf('gateway')) process.kill(pid, 'SIGKILL')
  await send(10)
  await delivered('crm').toBe(30)
  expect([...new Set(living.timesOf('1'))]).toEqual(times(0, 30))
  expect(await copyNamed('crm')).toMatchObject({ state: 'up', waiting: 0, parked: 0, discarded: 0, difference: 0 })

  // A copy with another name is a new one, which gets fixes from then on.
  const own = (await product.read('gateway.yaml')).replace(/copies:\n(?: {2}- .*\n)+/, '')
  await product.write('gateway.yaml', own + sectionOf(`{ name: erp, to: "${renamed.url}" }`, deadCopy))
  await expect.poll(() => copyNamed('erp'), soon).toMatchObject({ delivered: 0 })
  expect(await copyNamed('crm')).toBeUndefined()
  const sentOne = async () => {
    await send(1)
    return (await copyNamed('erp'))?.delivered
  }
  await expect.poll(sentOne, soon).toBeGreaterThan(0)
  await send(5)
  await expect.poll(() => renamed.timesOf('1').at(-1), soon).toBe(begin + sent - 1)
  const [first] = renamed.timesOf('1')
  expect(first).toBeGreaterThanOrEqual(begin + 30)
  expect(renamed.timesOf('1')).toEqual(times(first - begin, sent))
  await expect.poll(() => copyNamed('dead'), soon).toMatchObject({ waiting: sent, discarded: 0, difference: 0 })
})
