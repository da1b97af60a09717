import { expect, it } from 'vitest'
import type { DeviceRowJson } from '../../src/admin/schemas/devices.ts'
import type { RouteJson } from '../../src/admin/schemas/roster.ts'
import { dayPlan } from '../../src/page/data/day-plan.ts'

const DAY = { day: '2026-11-23', from: Date.UTC(2026, 10, 23), until: Date.UTC(2026, 10, 24) }
const van = (name: string, route_id?: string): DeviceRowJson => {
  const lane = { company_id: '7', courier_id: '42', route_id }
  return { id: name, name, configured: true, mapping: 'mapped', condition: 'moving', findings: [], ...lane }
}

function line(device: string, route_id: string, from: number, until: number): RouteJson {
  const [from_at, until_at] = [from, until].map((hour) => new Date(DAY.from + hour * 3_600_000).toISOString())
  return { device, company_id: '7', courier_id: '42', route_id, from_at, until_at, source: 'routes.csv:2' }
}

/** Returns `1001 0–6` for each part of the day, with the vans on the same route. */
function planOf(vans: readonly DeviceRowJson[], lines: readonly RouteJson[]): string[][] {
  const hour = (at: number) => (at - DAY.from) / 3_600_000
  return dayPlan(vans, lines, DAY).map(({ stays }) =>
    stays.map(({ route_id, from, until, sharedWith }) =>
      [route_id, `${hour(from)}–${hour(until)}`, ...sharedWith].join(' '),
    ),
  )
}

it('the day plan shows the usual route of a van if no line applies', () => {
  expect(planOf([van('Van 1', '1001')], [])).toEqual([['1001 0–24']])
  const lines = [line('Van 1', '3', 14, 20), line('Van 1', '2', 6, 10), line('Van 1', '4', 8, 12)]
  expect(planOf([van('Van 1', '1001')], lines)).toEqual([
    ['1001 0–6', '2 6–10', '4 8–12', '1001 12–14', '3 14–20', '1001 20–24'],
  ])
  expect(planOf([van('Van 1')], lines.slice(0, 1))).toEqual([['3 14–20']])
  expect(planOf([van('Van 1', '1001')], [line('Van 1', '2', -5, 30)])).toEqual([['2 0–24']])
})

it('the day plan shows two vans on one route only if both have it at the same time', () => {
  const vans = [van('Van 1', '1001'), van('Van 2')]
  const away = line('Van 1', '2', 6, 12)
  expect(planOf(vans, [away, line('Van 2', '1001', 6, 12)])).toEqual([
    ['1001 0–6', '2 6–12', '1001 12–24'],
    ['1001 6–12'],
  ])
  expect(planOf(vans, [away, line('Van 2', '1001', 11, 13)])[1]).toEqual(['1001 11–13 Van 1'])
})
