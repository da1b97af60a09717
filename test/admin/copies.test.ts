import { expect, it } from 'vitest'
import { advanceCopy, entryMark, readCopied, enterCopies, packParked } from '../../src/store/index.ts'
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

/** Stores five fixes for each copy. Of `crm` one is then delivered, one discarded and one parked. */
async function moveCopies(): Promise<void> {
  await enterCopies(admin.redis, [crm, { copy: 'erp', log: '7' }])
  for (const time of [1, 2, 3, 4, 5]) await storeCopied(admin.redis, [time])
  const fix = { device: VAN, timestamp: 3, latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const parked = [packParked({ at: Date.UTC(2026, 10, 20), status: 422, message: 'no such van', log: '7', fix })]
  const counts = { last: await markOf(2), passed: 3, delivered: 1, discarded: 1, parked }
  expect(await advanceCopy(admin.redis, crm, { token: '', from: 0, to: 3, ...counts })).toBe(3)
}

async function samples(): Promise<string[]> {
  const { text } = await admin.ask('/metrics')
  return [...text.matchAll(/^waybridge_copy_(\w+\{copy="\w+")[^}]*(\} \d+)$/gm)].map(([, one, other]) => one + other)
}

async function markOf(entry: number): Promise<string> {
  const read = await readCopied(admin.redis, crm, { from: entry, most: 1 })
  return entryMark(read!.entries[0])
}

it('the metrics show the waiting, parked, delivered and discarded positions of each copy', async () => {
  await moveCopies()
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
})

it('GET /admin/parked lists the parked positions of a copy by device and answer, page by page', async () => {
  await moveCopies()
  const more = [1, 2].map((second) => ({
    at: Date.UTC(2026, 10, 20, 0, 0, second),
    status: 422,
    message: 'no such van',
    log: '7',
    fix: { device: VAN, timestamp: 4, latitude: 52.5, longitude: 13.4, accuracy: 5 },
  }))
  const [one, other] = [
    more[0],
    { ...more[1], status: 0, message: 'tried 6 times', fix: { ...more[1].fix, device: 'a' } },
  ]
  const counts = { last: await markOf(4), passed: 2, delivered: 0, discarded: 0, parked: [one, other].map(packParked) }
  expect(await advanceCopy(admin.redis, crm, { token: '', from: 3, to: 5, ...counts })).toBe(5)
  const first = { company_id: '7', device: VAN, status: 422, message: 'no such van', fixes: 2 }
  const times = { first_at: '2026-11-20T00:00:00.000Z', at: '2026-11-20T00:00:01.000Z' }
  const { json, status } = await admin.ask('/admin/copies/parked?copy=crm&max_results=1')
  expect([status, json]).toEqual([200, { results: [{ ...first, ...times }], next_page_token: expect.any(String) }])
  const { next_page_token } = json as { next_page_token: string }
  const next = await admin.ask(`/admin/copies/parked?copy=crm&page_token=${next_page_token}`)
  expect((next.json as { results: object[] }).results).toMatchObject([{ device: 'a', status: 0, fixes: 1 }])
  expect((await admin.ask('/admin/copies/parked?copy=erp')).json).toEqual({ results: [] })
  expect((await admin.ask('/admin/copies/parked?copy=none')).status).toBe(404)
})
