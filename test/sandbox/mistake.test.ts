import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DaySheetJson, DaysJson } from '../../src/admin/schemas/days.ts'
import type { AssignedJson } from '../../src/admin/schemas/roster.ts'
import type { VerifiedJson } from '../../src/admin/schemas/verify.ts'
import { waybridge } from '../support/cli.ts'
import { type Command, startCommand } from '../support/simulate.ts'

const LIMIT_MS = 300_000

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'waybridge-mistake-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

it(
  'a swap from the start of the mistake corrects a demo with a mistake',
  async () => {
    const demo = startCommand(['demo', '--mistake', '--vans', '3'], cwd)
    await demo.says(/Mistake: since .* the roster has Van 1 and Van 2 on each other's routes\./)
    const ask = await adminPortOf(demo)
    const { from, until } = commandsOf(demo)[0]

    // Waits until every minute of the half hour is delivered.
    await vi.waitFor(async () => expect(sharesOf(await sheetsOf(ask, from))).toEqual(WHOLE), WAIT)
    const body = { with: 'Van 2', from_at: from, until_at: until }
    const planned = await ask<AssignedJson>('POST', '/admin/devices/Van 1/swap?dry_run=true', body)
    expect(planned.redeliver?.fixes).toBeGreaterThanOrEqual(2 * 180)
    await ask('POST', '/admin/devices/Van 1/swap?redeliver=true', body)

    await expectPutRight(ask, from)
    await endsWell(demo)
  },
  LIMIT_MS,
)

it(
  'the commands that a demo with a mistake prints correct it',
  async () => {
    const demo = startCommand(['demo', '--mistake', '--vans', '2'], cwd)
    await demo.says(/assign "Van 2" .*\n/)
    const ask = await adminPortOf(demo)
    const commands = commandsOf(demo)
    const [{ from }] = commands
    await vi.waitFor(async () => expect(sharesOf(await sheetsOf(ask, from))).toEqual(WHOLE), WAIT)
    for (const { words } of commands) {
      const { code, out, errors } = await waybridge(words, { cwd })
      expect([code, errors]).toEqual([0, ''])
      expect(out).toContain('now of route')
    }
    await expectPutRight(ask, from)
    await endsWell(demo)
  },
  LIMIT_MS,
)

it.each([['1'], ['0']])('a demo refuses a mistake of %s vans in a sentence', async (vans) => {
  const { code, errors } = await waybridge(['demo', '--mistake', '--vans', vans], { cwd })
  expect(code).toBe(1)
  expect(errors).toMatch(/^--(?:mistake: at least 2 vans|vans 0: expected a whole number from 1 to 999999)\.\n$/)
})

type Ask = <Answer>(method: string, path: string, body?: object) => Promise<Answer>

async function adminPortOf(demo: Command): Promise<Ask> {
  await demo.says(/driving/)
  const [run] = await readdir(join(cwd, '.demo'))
  const data = join(cwd, '.demo', run, 'data')
  const { admin } = JSON.parse(await readFile(join(data, 'ports.json'), 'utf8')) as { admin: number }
  const authorization = `Bearer ${(await readFile(join(data, 'admin-token'), 'utf8')).trim()}`
  return async <Answer>(method: string, path: string, body?: object) => {
    const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
    const url = `http://127.0.0.1:${admin}${encodeURI(path)}`
    const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) })
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text) as Answer
  }
}

/** Returns the printed commands with their times. */
function commandsOf(demo: Command) {
  const lines = demo.lines().filter((line) => line.includes(' -- assign '))
  return lines.map((line) => {
    const words = Array.from(line.split(' -- ')[1].matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word)
    const after = (option: string) => words[words.indexOf(option) + 1]
    return { words, from: after('--from'), until: after('--until') }
  })
}

/** Returns the sheets of routes 1001 and 1002 of each day since the mistake began. */
async function sheetsOf(ask: Ask, from: string): Promise<DaySheetJson[]> {
  const days = new Set([from, new Date().toISOString()].map((time) => time.slice(0, 10)))
  const sheets: DaySheetJson[] = []
  for (const day of days) sheets.push(...(await ask<DaysJson>('GET', `/admin/days?day=${day}`)).results)
  return sheets
    .filter(({ route_id }) => MISTAKEN.includes(route_id))
    .toSorted((a, b) => (a.route_id < b.route_id ? -1 : 1))
}

/** Returns the routes that are covered in every planned minute of their sheets. */
function sharesOf(sheets: readonly DaySheetJson[]): Record<string, boolean> {
  const routes = Map.groupBy(sheets, ({ route_id }) => route_id)
  return Object.fromEntries(
    Array.from(routes, ([route, own]) => {
      const planned = own.reduce((sum, { planned_min }) => sum + planned_min, 0)
      return [route, planned >= 30 && own.every(({ planned_min, covered_min }) => planned_min === covered_min)]
    }),
  )
}

async function expectPutRight(ask: Ask, from: string): Promise<void> {
  await vi.waitFor(async () => {
    const sheets = await sheetsOf(ask, from)
    expect(sharesOf(sheets)).toEqual(WHOLE)
    for (const route of MISTAKEN) {
      const own = sheets.filter(({ route_id }) => route_id === route)
      expect(own.reduce((sum, { redelivered }) => sum + redelivered, 0)).toBeGreaterThanOrEqual(180)
    }
  }, WAIT)
  const day = from.slice(0, 10)
  for (const route of MISTAKEN) {
    const verified = await ask<VerifiedJson>('POST', `/admin/verify?day=${day}&route_id=${route}`)
    expect(verified).toMatchObject({ missing: [], unknown: [] })
    expect(verified.checked).toBeGreaterThan(0)
  }
}

async function endsWell(demo: Command): Promise<void> {
  demo.process.kill('SIGINT')
  expect(await demo.ended).toBe(0)
  expect(demo.lines().at(-1)).toMatch(/^sent=(\d+) acked=\1 delivered=\1 lost=0 duplicates=0$/)
}

const MISTAKEN = ['1001', '1002']
const WHOLE = { 1001: true, 1002: true }
/** Gateways write minutes each minute, and workers write deliveries every 30 s. */
const WAIT = { timeout: 100_000, interval: 1000 }
