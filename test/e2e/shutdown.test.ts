import { afterAll, beforeAll, expect, it } from 'vitest'
import { DrivenProduct, VANS } from '../support/driven-product.ts'
import { pidsWith, signal } from '../support/processes.ts'
import { processesOn } from '../support/running.ts'

const soon = { timeout: 30_000, interval: 20 }

let product: DrivenProduct

beforeAll(async () => void (product = await DrivenProduct.begin()), 60_000)
afterAll(() => product?.remove())

it('ends with exit code 0 within 10 s of a SIGTERM while 30 vans send, and loses nothing', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  const since = performance.now()
  expect(await product.end()).toBe(0)
  expect(performance.now() - since).toBeLessThan(10_000)
  expect(processesOn(product.dir)).toEqual([])
  await product.start()
  await made(8 * VANS)
  await arrive()
}, 90_000)

it('costs the vans a reconnect when the gateway alone gets a SIGTERM', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  const [gateway] = pidsWith(product.dir, 'gateway')
  process.kill(gateway, 'SIGTERM')
  await expect.poll(() => pidsWith(product.dir, 'gateway').filter((pid) => pid !== gateway).length, soon).toBe(1)
  await made(6 * VANS)
  await arrive()
  expect(product.child.exitCode).toBe(null)
}, 90_000)

it('ends within 10 s of a SIGTERM to every process while 30 vans send, and loses nothing', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  await endEveryProcess()
  await product.start()
  await made(6 * VANS)
  const ended = endEveryProcess()
  product.child.kill('SIGKILL')
  await ended
  await product.start()
  await made(9 * VANS)
  await arrive()
}, 120_000)

/** In an order of no meaning, as a service manager does. */
async function endEveryProcess(): Promise<void> {
  const since = performance.now()
  const pids = processesOn(product.dir).map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(6)
  for (const pid of pids.toSorted((one, other) => (one % 7) - (other % 7))) signal(pid, 'SIGTERM')
  await expect.poll(() => processesOn(product.dir), soon).toEqual([])
  expect(performance.now() - since).toBeLessThan(10_000)
}
