import { expect, it } from 'vitest'
import { advanceCopy, enterCopies, keys } from '../../src/store/index.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { storeCopied, VAN } from '../support/copies.ts'

const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}] }
copies: [{ name: crm, to: "http://127.0.0.1:9" }, { name: erp, to: "http://127.0.0.1:9" }]
`,
})
const soon = { timeout: 30_000, interval: 50 }
const crm = { copy: 'crm', log: '7' }

/** Five fixes: of each two wait for a copy, and of `crm` one is delivered, one discarded and one parked. */
async function moveCopies(): Promise<void> {
  await enterCopies(admin.redis, [crm, { copy: 'erp', log: '7' }])
  for (const time of [1, 2, 3, 4, 5]) await storeCopied(admin.redis, [time])
  const fix = { device: VAN, timestamp: 3, latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const parked = [{ at: Date.UTC(2026, 10, 20), status: 422, message: 'no such van', log: '7', fix }]
  const counts = { passed: 3, delivered: 1, discarded: 1, parked }
  expect(await advanceCopy(admin.redis, crm, { token: '', from: 0, to: 3, ...counts })).toBe(3)
}

it('the metrics show of each copy what waits, is parked, was delivered and discarded', async () => {
  await moveCopies()
  const samples = async () => {
    const { text } = await admin.ask('/metrics')
    return [...text.matchAll(/^waybridge_copy_(\w+\{copy="\w+")[^}]*(\} \d+)$/gm)].map(([, one, other]) => one + other)
  }
  await expect
    .poll(async () => (await samples()).toSorted(), soon)
    .toEqual([
      'fixes_delivered_total{copy="crm"} 1',
      'fixes_delivered_total{copy="erp"} 0',
      'fixes_discarded_total{copy="crm"} 1',
      'fixes_discarded_total{copy="erp"} 0',
      'fixes_parked{copy="crm"} 1',
      'fixes_parked{copy="erp"} 0',
      'fixes_waiting{copy="crm"} 2',
      'fixes_waiting{copy="erp"} 5',
    ])
  await admin.redis.del(keys.copyParked('crm'))
})
