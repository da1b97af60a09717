import { describe, expect, it } from 'vitest'
import { readFiles } from '../../src/roster/files.ts'
import { type Loaded, loadedOf } from '../../src/roster/load.ts'
import { changeTo } from '../../src/roster/reload.ts'
import { planRoster, type RosterPlan } from '../../src/roster/roster-plan.ts'
import { readRoutes } from '../../src/roster/routes.ts'
import { COMPANY, folder, PROTOCOLS } from '../support/config-folder.ts'

const HEADER = 'device,route_id,from,until\n'
const DEVICES = ['1', '2', '3']

/** Unix seconds of a time of 2026-11-20, local in UTC; `24:00` and later is the next day. */
const at = (time: string) => Date.UTC(2026, 10, 20, ...(time.split(':').map(Number) as [number, number])) / 1000

/** A line for each of some devices for each of some times: `06:00-20:00`. */
function lines(devices: readonly string[], ...times: string[]): string {
  const spans = times.map((time) => time.split('-').map((each) => new Date(at(each) * 1000).toISOString()))
  return HEADER + devices.flatMap((device) => spans.map((span) => `${device},9,${span.join(',')}\n`)).join('')
}

async function filesOf(routes: string, device = 'company_id: 7, courier_id: 4') {
  const devices = DEVICES.map((id) => `${id}: { ${device} }\n`).join('')
  const dir = await folder({ 'gateway.yaml': COMPANY, 'devices.yaml': devices, 'routes.csv': routes })
  return readFiles(dir, { protocols: PROTOCOLS })
}

async function inEffect(routes: string, device?: string): Promise<Loaded> {
  return loadedOf(await filesOf(routes, device))
}

interface Put {
  readonly now: string
  readonly from?: string
  readonly until?: string
}

/** What a put of company 7 would do; default: for the whole day. */
async function planned(
  loaded: Loaded,
  text: string,
  { now, from = '00:00', until = '24:00' }: Put,
): Promise<RosterPlan> {
  const file = await readRoutes({ name: 'put', text }, 'UTC')
  return planRoster(loaded, { company_id: '7', from: at(from), until: at(until), file, now: at(now) * 1000 })
}

const MORNING = '06:00-10:30'
const REST = '10:30-20:00'

describe('a put that takes the route from most devices', () => {
  it.each([
    ['now', [MORNING, REST], lines(['1'], MORNING, REST), { now: '10:00' }],
    ['now, though they have it later', [MORNING, REST], lines(DEVICES, REST), { now: '10:00' }],
    ['tomorrow', ['30:00-44:00'], HEADER, { now: '10:00', from: '24:00', until: '48:00' }],
    ['in the past', [MORNING], HEADER, { now: '34:00' }],
  ])('%s, is a loss', async (_, before, text, when) => {
    const plan = await planned(await inEffect(lines(DEVICES, ...before)), text, when)
    expect(plan.loss?.routed).toBe(3)
  })

  it.each([
    ['later, where they have it now', ['06:00-20:00'], lines(DEVICES, MORNING), { now: '10:00' }],
    ['later, where they have none now', [MORNING], HEADER, { now: '03:00' }],
    ['from one of three', ['06:00-20:00'], lines(['1', '2'], '06:00-20:00'), { now: '10:00' }],
    ['of lines that are over', [MORNING], HEADER, { now: '11:00' }],
    [
      'where a line goes on below',
      ['00:00-72:00', '30:00-44:00'],
      HEADER,
      { now: '10:00', from: '24:00', until: '48:00' },
    ],
  ])('%s, is none', async (_, before, text, when) => {
    const plan = await planned(await inEffect(lines(DEVICES, ...before)), text, when)
    expect(plan.loss).toBeUndefined()
  })

  it('is none where devices have a route of their own', async () => {
    const loaded = await inEffect(lines(DEVICES, MORNING), 'company_id: 7, courier_id: 4, route_id: 1')
    expect((await planned(loaded, HEADER, { now: '10:00' })).loss).toBeUndefined()
  })
})

it('the rows of a put are kept without their words: their times are what counts', async () => {
  const { rows } = await planned(await inEffect(HEADER), lines(['1'], MORNING), { now: '10:00' })
  const row = { at: HEADER.length, line: 2, device: '1', route_id: '9', from: at('06:00'), until: at('10:30') }
  expect(JSON.parse(JSON.stringify(rows))).toEqual([row])
})

describe('devices without a route', () => {
  it.each([
    ['now', { now: '10:00' }, ['2', '3']],
    ['now, though they had one', { now: '11:00' }, ['1', '2', '3']],
    ['at any time, before the interval', { now: '-10:00' }, ['2', '3']],
    ['at any time, after the interval', { now: '34:00' }, ['2', '3']],
  ])('are those without one %s', async (_, when, without) => {
    const plan = await planned(await inEffect(HEADER), lines(['1'], MORNING), when)
    expect(plan.withoutRoute.map(({ id }) => id)).toEqual(without)
  })
})

describe('a file that takes the route from most devices', () => {
  it.each([
    ['now, though they have it later', '10:00', [MORNING, REST], [REST], true],
    ['later, where they have none now', '03:00', [MORNING], [], false],
    ['of lines that are over', '11:00', [MORNING], [], false],
  ])('%s', async (_, now, before, after, isRefused) => {
    const running = await inEffect(lines(DEVICES, ...before))
    const change = await changeTo(await filesOf(lines(DEVICES, ...after)), running, at(now) * 1000)
    const message =
      'would take the route from 3 of the 3 devices that have one now: the routes of before stay in effect'
    expect(change.refused.map((problem) => problem.message)).toEqual(isRefused ? [message] : [])
  })
})
