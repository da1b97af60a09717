import { expect, it } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import { type Assignment, assignmentField } from '../../src/roster/assignment.ts'
import { Roster } from '../../src/roster/roster.ts'

const van = (id: string, name?: string): Device => ({
  id,
  name,
  company_id: '7',
  courier_id: '4',
  source: 'devices.yaml:1',
})
const line = (device: string, route_id: string, changes: Partial<Assignment> = {}): Assignment => {
  return { device, courier_id: '', route_id, from: 0, until: 100, source: 'routes.csv:2', ...changes }
}

function change(devices: readonly Device[], lines: readonly Assignment[], dropped: readonly Assignment[] = []) {
  return {
    devices: devices.map((device) => [device.id, device] as const),
    assignments: [
      ...dropped.map((each) => [assignmentField(each), undefined] as const),
      ...lines.map((each) => [assignmentField(each), each] as const),
    ],
  }
}

function routeOf(roster: Roster, id: string): string | undefined {
  const entry = roster.find(id)
  return entry && roster.stayAt(entry, 50)?.lane.route
}

it('a change concerns the devices that its lines name by id or by name', () => {
  const roster = new Roster()
  roster.apply(change([van('1', 'A'), van('2', 'A'), van('3', 'B')], []))
  expect([...roster.apply(change([], [line('A', '10')]))]).toEqual(['1', '2'])
  expect([...roster.apply(change([], [line('003', '30')]))]).toEqual(['3'])
  expect(['1', '2', '3'].map((id) => routeOf(roster, id))).toEqual(['10', '10', '30'])
  expect([...roster.apply(change([], [], [line('A', '10')]))]).toEqual(['1', '2'])
  expect(['1', '2', '3'].map((id) => routeOf(roster, id))).toEqual([undefined, undefined, '30'])
})

it('a change gives a line to a new device whose id is the name of another one, and back', () => {
  const roster = new Roster()
  roster.apply(change([van('1', '99')], [line('99', '10')]))
  expect(routeOf(roster, '1')).toBe('10')
  expect([...roster.apply(change([van('99')], []))].toSorted()).toEqual(['1', '99'])
  expect([routeOf(roster, '1'), routeOf(roster, '99')]).toEqual([undefined, '10'])
  roster.apply({ devices: [['99', undefined]], assignments: [] })
  expect([routeOf(roster, '1'), roster.find('99')]).toEqual(['10', undefined])
})

it('a change gives a line to a device that is added later', () => {
  const roster = new Roster()
  expect([...roster.apply(change([], [line('A', '10')]))]).toEqual([])
  roster.apply(change([van('1', 'A')], []))
  expect(routeOf(roster, '1')).toBe('10')
})

it('a change of names gives a line to the device that now has the name', () => {
  const roster = new Roster()
  roster.apply(change([van('1', 'A'), van('2')], [line('A', '10')]))
  roster.apply(change([van('1'), van('2', 'A')], []))
  expect([routeOf(roster, '1'), routeOf(roster, '2')]).toEqual([undefined, '10'])
})

it('a change of a copy leaves the original unchanged', async () => {
  const roster = new Roster()
  roster.apply(change([van('1', 'A')], [line('A', '10')]))
  const copy = new Roster(roster)
  await copy.applyInSlices(change([van('2', 'A')], [line('A', '20', { from: 10 })], [line('A', '10')]))
  expect([routeOf(roster, '1'), routeOf(roster, '2')]).toEqual(['10', undefined])
  expect([routeOf(copy, '1'), routeOf(copy, '2')]).toEqual(['20', '20'])
})

it('an assignment that was put applies only to devices of its company', () => {
  const roster = new Roster()
  roster.apply(change([van('1')], [line('1', '10', { company_id: '8', version: 2 })]))
  expect(routeOf(roster, '1')).toBeUndefined()
  roster.apply(change([{ ...van('1'), company_id: '8' }], []))
  expect(routeOf(roster, '1')).toBe('10')
})

it('an assignment without a courier takes that of its device, and is not in effect without one', () => {
  const roster = new Roster()
  roster.apply(change([{ ...van('1'), courier_id: undefined }], [line('1', '10')]))
  expect(routeOf(roster, '1')).toBeUndefined()
  roster.apply(change([van('1')], []))
  expect(roster.stayAt(roster.find('1')!, 50)?.lane.key).toBe('7/4/10')
})

it('the later line of two assignments with the same from decides', () => {
  const roster = new Roster()
  roster.apply(
    change([van('1')], [line('1', '10', { source: 'routes.csv:10' }), line('1', '9', { source: 'routes.csv:9' })]),
  )
  expect(routeOf(roster, '1')).toBe('10')
})
