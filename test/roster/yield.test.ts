import { describe, expect, it } from 'vitest'
import { writesBetween } from '../../src/roster/edits.ts'
import { filesOf } from '../../src/roster/files.ts'
import { loadedOf } from '../../src/roster/load.ts'
import { changeTo } from '../../src/roster/reload.ts'
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

describe('while a large fleet', () => {
  it('is read, and while it takes effect, other work is done', async () => {
    const reading = await turnsDuring(() => filesOf('', fleet(0), OPTIONS))
    expect(reading.turns).toBeGreaterThan(5)
    const loading = await turnsDuring(() => loadedOf(reading.result))
    expect(loading.turns).toBeGreaterThan(5)
    const read = await filesOf('', fleet(COUNT), OPTIONS)
    const changing = await turnsDuring(() => changeTo(read, loading.result, Date.now()))
    expect(changing.turns).toBeGreaterThan(5)
    expect(changing.result.loaded.routes.at(-1)).toMatchObject({ device: '9999', route_id: '19999' })
    const comparing = await turnsDuring(() => writesBetween(reading.result, read))
    expect(comparing.turns).toBeGreaterThan(2)
  })
})
