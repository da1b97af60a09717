import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import { createDirectory } from '../support/roster.ts'

const VAN: Device = {
  id: '0356307042441013',
  company_id: '7',
  courier_id: '42',
  route_id: '1001',
  source: 'devices.yaml:1',
}

function line(route_id: string, from: number, until: number, changes: Partial<Assignment> = {}): Assignment {
  return { device: VAN.id, courier_id: '42', route_id, from, until, source: `routes.csv:${route_id}`, ...changes }
}

/** Returns the route of the device at each time. */
async function routesAt(lines: Assignment[], times: number[], device: Device = VAN): Promise<(string | undefined)[]> {
  const directory = await createDirectory([device], lines)
  return times.map((time) => directory.stayAt(directory.find(device.id)!, time)?.lane.route)
}

describe('the search for a device by id or name', async () => {
  const directory = await createDirectory([VAN, { id: 'van-12', company_id: '7', source: 'devices.yaml:2' }], [])

  it.each(['0356307042441013', '356307042441013', '000356307042441013'])(
    'the search for a device ignores leading zeros: %s',
    (id) => expect(directory.find(id)?.id).toBe('0356307042441013'),
  )
  it('the search for a device compares ids of text exactly', () => expect(directory.find('van-12')?.id).toBe('van-12'))
  it.each(['0van-12', 'VAN-12', '', '0', '__proto__', '35630704244101'])(
    'the search for a device does not find "%s"',
    (id) => expect(directory.find(id)).toBeUndefined(),
  )
  it('the search for a device returns an entry with the settings, model and time zone that a decoder needs', async () => {
    const settings = { port: 5 }
    const local = { ...VAN, model: 'FMB920', time_zone: '+03:00', settings }
    const entry = (await createDirectory([local], [])).find(VAN.id)
    expect(entry?.protocolSettings).toEqual({ model: 'FMB920', timeZone: '+03:00', port: 5 })
  })
})

it('stayAt includes from and excludes until', async () => {
  const lines = [line('2', 100, 200)]
  expect(await routesAt(lines, [99, 100, 199, 200])).toEqual(['1001', '2', '2', '1001'])
})
it('stayAt has no lane without a line and a usual route', async () =>
  expect(await routesAt([line('2', 100, 200)], [200], { ...VAN, route_id: undefined })).toEqual([undefined]))
it('stayAt lets the line with the later from decide, and the earlier one continue after it', async () => {
  const lines = [line('2', 100, 200), line('3', 120, 150)]
  expect(await routesAt(lines, [119, 120, 149, 150, 199])).toEqual(['2', '3', '3', '2', '2'])
})
it('stayAt lets the later of two lines with the same from decide', async () =>
  expect(await routesAt([line('2', 100, 200), line('3', 100, 150)], [100])).toEqual(['3']))
it('stayAt ignores lines of other devices', async () =>
  expect(await routesAt([line('2', 100, 200, { device: '1' })], [150])).toEqual(['1001']))

it('stayAt equals a search through every line', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 12 })), { maxLength: 12 }),
      fc.integer({ min: -2, max: 45 }),
      async (spans, time) => {
        const lines = spans.map(([from, length], index) => line(String(index), from, from + length))
        expect(await routesAt(lines, [time])).toEqual([lineAt(lines, time)?.route_id ?? '1001'])
      },
    ),
    { numRuns: 2000 },
  ))

interface Write {
  readonly at: number
  readonly lines: readonly Assignment[]
}

const spans = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 12 }), fc.nat(4)), { maxLength: 8 })

/** Lines of files, each written at an even time, and of puts at odd times. */
const tables = fc.tuple(spans, fc.array(spans, { maxLength: 4 })).map(([ofFiles, ofPuts]) => ({
  files: ofFiles.map(([from, length, write], index) => line(`1${index}`, from, from + length, { version: 2 * write })),
  puts: ofPuts.map((put, number): Write => {
    const at = 2 * number + 1
    const changes = { version: at, company_id: '7' }
    return { at, lines: put.map(([from, length], index) => line(`${at}0${index}`, from, from + length, changes)) }
  }),
}))

/** Returns the line of a table that decides at a time: the later `from`, then the later line. */
function lineAt(lines: readonly Assignment[], time: number): Assignment | undefined {
  return lines.reduce<Assignment | undefined>(
    (best, next) => (next.from <= time && time < next.until && !(best && best.from > next.from) ? next : best),
    undefined,
  )
}

describe('the last write', () => {
  it('the last write of files and puts decides for a time', () =>
    fc.assert(
      fc.asyncProperty(tables, fc.integer({ min: -2, max: 45 }), async ({ files, puts }, time) => {
        const said = [files, ...puts.map(({ lines }) => lines)].flatMap((lines) => lineAt(lines, time) ?? [])
        const last = said.toSorted((a, b) => b.version! - a.version!)[0]
        const lines = [...files, ...puts.flatMap((put) => put.lines)]
        expect(await routesAt(lines, [time])).toEqual([last?.route_id ?? '1001'])
      }),
      { numRuns: 5000 },
    ))

  it('a put does not change which of two lines of files decides', async () => {
    const lines = [
      line('2', 0, 100, { version: 20 }),
      line('3', 40, 60),
      line('4', 80, 90, { version: 10, company_id: '7' }),
    ]
    expect(await routesAt(lines, [30, 50, 85])).toEqual(['2', '3', '2'])
  })
})

describe('lanes', async () => {
  const second = { ...VAN, id: '2', company_id: '8', source: 'devices.yaml:2' }
  const directory = await createDirectory([VAN, second], [line('1001', 0, 10), line('2', 5, 6, { courier_id: '43' })])

  it('the roster has a lane for every company, courier and route once', () =>
    expect([...directory.lanes()].map(({ key }) => key).toSorted()).toEqual(['7/42/1001', '7/43/2', '8/42/1001']))
  it('a lane names the line that decided', () => {
    const entry = directory.find(VAN.id)!
    expect([1, 5, 20].map((time) => directory.stayAt(entry, time)?.source)).toEqual([
      'routes.csv:1001',
      'routes.csv:2',
      'devices.yaml:1',
    ])
  })
  it('a lane belongs to the company of its device', () =>
    expect(directory.stayAt(directory.find('2')!, 1)?.lane.company).toBe('8'))
})
