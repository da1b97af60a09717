import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { companiesMissing } from '../../src/admin/collectors.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { createDirectory } from '../support/roster.ts'

const admin = adminFixture()
const DAY = 86_400
/** Friday. */
const TODAY = Date.UTC(2026, 10, 20) / 1000
const WORKING_DAYS = [1, 2, 3, 4, 7].map((days) => TODAY - days * DAY)

it.each([
  ['is missing after six on a working day', WORKING_DAYS, 6, ['7']],
  ['is missing since six if that is noticed later', WORKING_DAYS, 11, ['7']],
  ['is not missing before six', WORKING_DAYS, 5, []],
  ['is not missing where a line begins today', [...WORKING_DAYS, TODAY], 6, []],
  ['is not missing where a working day had none', WORKING_DAYS.slice(1), 6, []],
  ['is not missing on a Saturday', WORKING_DAYS.map((day) => day + DAY), 30, []],
])('the roster of today %s', async (_, days, hour, companies) => {
  const lines = days.map((from) => ({
    device: '1',
    courier_id: '',
    route_id: '5',
    source: 'routes.csv:2',
    from: from + 8 * 3600,
    until: from + 20 * 3600,
  }))
  const roster = await createDirectory([{ id: '1', company_id: '7', courier_id: '1', source: 'devices.yaml:1' }], lines)
  expect(await companiesMissing(roster, (TODAY + hour * 3600) * 1000, 'UTC')).toEqual(
    companies.map((company_id) => ({ company_id, since: (TODAY + 6 * 3600) * 1000 })),
  )
})

/** Returns the results of the last version of each file. */
async function results(): Promise<object[]> {
  return ((await admin.ask('/admin/roster')).json as { results: object[] }).results
}

/** Returns the present findings about files. */
async function held(): Promise<object[]> {
  const { results: found } = (await admin.ask('/admin/findings')).json as {
    results: { code: string; ended_at?: string }[]
  }
  return found.filter(({ code, ended_at }) => /^(?:roster_rejected|config_refused)$/.test(code) && !ended_at)
}

/** Returns the text of routes.csv, and a function that replaces it until the test ends. */
async function routesFile() {
  const file = join(admin.dir, 'routes.csv')
  const text = await readFile(file, 'utf8')
  // The rename prevents that half of the file is read, which would give other counts.
  const write = async (lines: string) => {
    await writeFile(`${file}.new`, lines)
    await rename(`${file}.new`, file)
  }
  onTestFinished(() => write(text))
  return { text, write }
}

it('a file that is refused as a whole is one finding, and none of its lines counts as left out', async () => {
  const { text, write } = await routesFile()
  await write('device,from\n')
  await vi.waitFor(async () => expect(await results()).toMatchObject([{ rejected: [{ line: 1 }] }]), {
    timeout: 30_000,
  })
  await vi.waitFor(async () => expect(await held()).toMatchObject([{ code: 'config_refused' }]), { timeout: 30_000 })
  // The results of writers are read every five seconds.
  await new Promise((resolve) => setTimeout(resolve, 6000))
  expect(await held()).toMatchObject([{ code: 'config_refused', subject: { file: 'routes.csv' } }])
  await write(text)
  await vi.waitFor(async () => expect(await held()).toEqual([]), { timeout: 30_000 })
})

it('a file has a roster result, and a line that is left out is a finding until it is corrected', async () => {
  const { text, write } = await routesFile()
  await write(`${text}Van 12,,5,2099-11-20 06:00,\nVan 99,,5,2099-11-20 06:00,\n`)
  const rejected = [{ line: 4, message: 'device: no device has the id or the name "Van 99"' }]
  await vi.waitFor(async () => expect(await results()).toMatchObject([{ added: 2, rejected }]), { timeout: 30_000 })
  expect(await results()).toMatchObject([{ writer: 'routes.csv', kind: 'file', changed: 0, removed: 0 }])
  await vi.waitFor(async () => expect(await held()).toMatchObject([{ count: 1 }]), { timeout: 30_000 })
  await write(text)
  await vi.waitFor(async () => expect(await results()).toMatchObject([{ removed: 2, rejected: [] }]), {
    timeout: 30_000,
  })
  await vi.waitFor(async () => expect(await held()).toEqual([]), { timeout: 30_000 })
})

it('a line of a file is no longer left out after its device is added through the admin port', async () => {
  const { text, write } = await routesFile()
  await write(`${text}Van 98,,7,2020-01-01 00:00,2120-01-01 00:00\n`)
  await expect.poll(held, { timeout: 30_000 }).toHaveLength(1)
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const body = '{"company_id":7,"courier_id":49,"name":"Van 98"}'
  expect((await admin.ask('/admin/devices/98', { method: 'PUT', headers, body })).status).toBe(200)
  const route = () => {
    const entry = admin.live.directory().find('98')
    return entry && admin.live.directory().stayAt(entry, Date.now() / 1000)?.lane.route
  }
  expect(route()).toBe('7')
  await expect
    .poll(results, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining({ kind: 'file', rejected: [] }))
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
})
