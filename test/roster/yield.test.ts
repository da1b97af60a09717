import { expect, it } from 'vitest'
import { filesOf } from '../../src/config/files.ts'
import { contentsOf, differenceOf, rosterOf } from '../../src/roster/file-version.ts'
import { Roster } from '../../src/roster/roster.ts'
import { COMPANY } from '../support/config-folder.ts'
import { turnsDuring } from '../support/turns.ts'

const COUNT = 10_000
const OPTIONS = { protocols: null, zone: 'UTC' }

function fleet(route: number) {
  const vans = Array.from({ length: COUNT }, (_, id) => id)
  const devices = vans.map((id) => `${id}: { name: Van ${id}, company_id: 7, courier_id: ${id} }\n`)
  const routes = vans.map((id) => `Van ${id},${route + id},2030-06-01 06:00,2030-06-01 20:00\n`)
  return new Map([
    ['gateway.yaml', COMPANY],
    ['devices.yaml', devices.join('')],
    ['routes.csv', `device,route_id,from,until\n${routes.join('')}`],
  ])
}

it('the process does other work while a large roster is read, compared and applied', async () => {
  const reading = await turnsDuring(() => filesOf('', fleet(0), OPTIONS))
  expect(reading.turns).toBeGreaterThan(5)
  const loading = await turnsDuring(() => rosterOf(reading.result))
  expect(loading.turns).toBeGreaterThan(5)
  const [before, now] = [await contentsOf(reading.result), await contentsOf(await filesOf('', fleet(COUNT), OPTIONS))]
  const comparisons = Array.from(now, ([name, file]) => ({ name, before: before.get(name)!, now: file }))
  const comparing = await turnsDuring(() => differenceOf(comparisons, loading.result))
  expect(comparing.turns).toBeGreaterThan(2)
  const next = new Roster(loading.result)
  const applying = await turnsDuring(() => next.applyInSlices(comparing.result))
  expect(applying.turns).toBeGreaterThan(5)
  const entry = next.find('9999')
  expect(entry && next.stayAt(entry, Date.UTC(2030, 5, 1, 12) / 1000)?.lane.route).toBe('19999')
})
