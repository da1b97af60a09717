import { describe, expect, it } from 'vitest'
import {
  deviceKey,
  type Edits,
  type FileWrites,
  NO_EDITS,
  type RouteEdit,
  writesBetween,
} from '../../src/roster/edits.ts'
import { type Files, filesOf, readFiles } from '../../src/roster/files.ts'
import { assemble, type Loaded, loadedOf, problemText } from '../../src/roster/load.ts'
import { readRoutes } from '../../src/roster/routes.ts'
import { COMPANY, folder, PROTOCOLS } from '../support/config-folder.ts'

const HEADER = 'device,courier_id,route_id,from,until\n'
const DEVICES = `
"0012": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1 }
"14": { name: Van 14, company_id: 7, courier_id: 43 }
"80": { name: Van 80, company_id: 8, courier_id: 80 }
`
const GATEWAY = 'companies: [{ company_id: 7, apikey: k }, { company_id: 8, apikey: l }]\n'

const day = (hour: number) => Date.UTC(2026, 10, 20, hour) / 1000

async function files(routes: string, devices = DEVICES) {
  const dir = await folder({ 'gateway.yaml': GATEWAY, 'devices.yaml': devices, 'routes.csv': HEADER + routes })
  return readFiles(dir, { protocols: PROTOCOLS })
}

/** What is in effect of files and edits. */
async function inEffect(routes: string, edits: Partial<Edits>, devices?: string): Promise<Loaded> {
  const loaded = await loadedOf(await files(routes, devices))
  return assemble({ ...loaded, edits: { ...NO_EDITS, ...edits }, now: Date.UTC(2026, 10, 20, 12) })
}

/** A put of company 7 for the whole day, at time 100. */
async function put(lines: string, overrides: Partial<RouteEdit> = {}): Promise<RouteEdit> {
  const { rows, mistakes } = await readRoutes({ name: 'put', text: HEADER + lines }, 'UTC')
  expect(mistakes).toEqual([])
  return { at: 100, company_id: '7', from: day(0), until: day(24), rows, ...overrides }
}

/** The route of a device at each hour of some. */
function routesOf({ directory }: Loaded, id: string, ...hours: number[]): (string | undefined)[] {
  const entry = directory.find(id)
  return hours.map((hour) => entry && directory.laneAt(entry, day(hour))?.route)
}

describe('lines that were put', () => {
  it('take the place of lines of files that begin in the interval', async () => {
    const loaded = await inEffect('Van 14,,21,2026-11-20T06:00Z,2026-11-20T20:00Z\n', {
      routes: [await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T10:00Z\n')],
    })
    expect(routesOf(loaded, '14', 7, 8, 9, 10)).toEqual([undefined, '31', '31', undefined])
    expect(loaded.routes.map(({ source }) => source)).toEqual(['admin 1970-01-01T00:00:00Z'])
  })

  it('lie over lines of files that begin before it, which go on after them', async () => {
    const loaded = await inEffect('Van 14,,21,2026-11-19T20:00Z,2026-11-20T20:00Z\n', {
      routes: [await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T10:00Z\n')],
    })
    expect(routesOf(loaded, '14', 7, 8, 10, 20)).toEqual(['21', '31', '21', undefined])
  })

  it('lie over lines of files that begin later than they do', async () => {
    const loaded = await inEffect('Van 14,,21,2026-11-20T09:00Z,2026-11-20T20:00Z\n', {
      routes: [await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T10:00Z\n', { until: day(9) })],
    })
    expect(routesOf(loaded, '14', 8, 9, 10)).toEqual(['31', '31', '21'])
  })

  it('leave the lines of other companies alone, and are none of theirs', async () => {
    const loaded = await inEffect('Van 80,,81,2026-11-20T06:00Z,2026-11-20T20:00Z\n', {
      routes: [await put('Van 80,,91,2026-11-20T08:00Z,2026-11-20T10:00Z\n')],
    })
    expect(routesOf(loaded, '80', 8)).toEqual(['81'])
  })

  it('give way to a line of a file that was written later', async () => {
    const loaded = await inEffect('Van 14,,21,2026-11-20T07:00Z,2026-11-20T09:00Z\n', {
      routes: [await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T10:00Z\n')],
      files: new Map([['line 2026-11-20T07:00Z/2026-11-20T09:00Z///21/Van 14', 101]]),
    })
    expect(routesOf(loaded, '14', 7, 8, 9, 10)).toEqual(['21', '21', '31', undefined])
  })

  it('of two puts the later one decides, and takes the place of the lines of the earlier one', async () => {
    const loaded = await inEffect('', {
      routes: [
        await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T20:00Z\nVan 12,,32,2026-11-20T13:00Z,\n'),
        await put('Van 14,,41,2026-11-20T12:00Z,2026-11-20T14:00Z\n', { at: 101, from: day(12) }),
      ],
    })
    expect(routesOf(loaded, '14', 8, 12, 14)).toEqual(['31', '41', '31'])
    expect(routesOf(loaded, '12', 13)).toEqual(['1'])
  })

  it('that are none: the interval is empty', async () => {
    const loaded = await inEffect('Van 14,,21,2026-11-20T06:00Z,2026-11-20T20:00Z\n', { routes: [await put('')] })
    expect([routesOf(loaded, '14', 8), loaded.routes]).toEqual([[undefined], []])
  })

  it('name a device: by a name, whoever has it by now', async () => {
    const loaded = await inEffect(
      '',
      { routes: [await put('Van 14,,31,2026-11-20T08:00Z,2026-11-20T10:00Z\n')] },
      '"99": { name: Van 14, company_id: 7, courier_id: 43 }',
    )
    expect(routesOf(loaded, '99', 8)).toEqual(['31'])
  })

  it('are compared with the line that decides among those of files, whenever the others were written', async () => {
    const loaded = await inEffect(
      'Van 14,,21,2026-11-20T08:00Z,2026-11-20T20:00Z\nVan 14,,22,2026-11-20T06:00Z,2026-11-20T20:00Z\n',
      {
        routes: [await put('Van 14,,31,2026-11-20T09:00Z,2026-11-20T10:00Z\n', { from: day(9), until: day(10) })],
        files: new Map([['line 2026-11-20T06:00Z/2026-11-20T20:00Z///22/Van 14', 101]]),
      },
    )
    expect(routesOf(loaded, '14', 6, 8, 9, 10)).toEqual(['22', '21', '31', '21'])
  })
})

describe('devices that were put', () => {
  const device = { id: '14', name: 'Van 41', company_id: '7', courier_id: '44', route_id: '9', source: 'admin' }

  it('take the place of those of files', async () => {
    const { directory } = await inEffect('Van 41,,5,2026-11-20T06:00Z,2026-11-20T07:00Z\n', {
      devices: new Map([['14', { at: 100, device }]]),
    })
    expect(directory.find('14')).toMatchObject({ name: 'Van 41', courier_id: '44' })
    expect(directory.laneAt(directory.find('14')!, day(6))?.key).toBe('7/44/5')
    expect([...directory.devices()]).toHaveLength(3)
  })

  it('are told from others by their id without leading zeros', async () => {
    const { directory } = await inEffect('', { devices: new Map([['12', { at: 100, device: null }]]) })
    expect([directory.find('0012'), directory.find('12')]).toEqual([undefined, undefined])
  })

  it.each([
    ['an entry of a file', '14', 'Van 14', undefined],
    ['the removal of an entry', undefined, undefined, ''],
  ])('give way to %s that was written later, and to no earlier one', async (_, entry, name, file) => {
    const ofFile = (await loadedOf(await files(''))).devices.find(({ id }) => id === entry)
    const nameAt = async (at: number) => {
      const edits = { devices: new Map([['14', { at: 100, device }]]), files: new Map([[deviceKey('14', ofFile), at]]) }
      return (await inEffect('', edits, file)).directory.find('14')?.name
    }
    expect([await nameAt(101), await nameAt(99)]).toEqual([name, 'Van 41'])
  })

  it('do not give way to what a file has never said, or does not say any more', async () => {
    const other = deviceKey('14', { ...device, name: 'Van 15' })
    const edits = { devices: new Map([['14', { at: 100, device }]]), files: new Map([[other, 101]]) }
    expect((await inEffect('', edits)).directory.find('14')?.name).toBe('Van 41')
  })

  it.each([
    ['nothing', { name: 'Van 99' }, []],
    [
      'the name of another company',
      { name: 'Van 80' },
      ['99.name: the device at devices.yaml:4, of another company, has this name too'],
    ],
    ['the id of another as name', { name: '80' }, ['99.name: this is the id of the device at devices.yaml:4']],
    [
      'an unknown company',
      { company_id: '9' },
      ['99.company_id: company 9 is not among the companies of gateway.yaml'],
    ],
  ])('have %s that does not go with files: a warning', async (_, changes, warnings) => {
    const edited = { ...device, id: '99', ...changes }
    const { problems } = await inEffect('', { devices: new Map([['99', { at: 100, device: edited }]]) })
    const own = problems.filter(({ file }) => file === 'admin')
    expect(own.map((problem) => problemText(problem).replace('admin: ', ''))).toEqual(warnings)
    expect(problems.every(({ severity }) => severity === 'warning')).toBe(true)
  })

  it('are warned of at the file where that has their id as a name', async () => {
    const devices = '"1": { name: "99", company_id: 7, courier_id: 1, route_id: 1 }'
    const edited = { ...device, id: '99', name: 'Van 99' }
    const { problems } = await inEffect('', { devices: new Map([['99', { at: 100, device: edited }]]) }, devices)
    expect(problems.map(({ severity, line, message }) => [severity, line, message])).toEqual([
      ['warning', 1, 'this is the id of the device at admin'],
    ])
  })
})

const keyOf = (route: string) => `line 2026-11-20 06:00////${route}/Van 14`

/** Without the digests of what entries say. */
function shortly({ written, gone }: FileWrites): string[][] {
  return [written, gone].map((keys) => keys.map((key) => key.replace(/ \S{43}$/, ' …')))
}

describe('writesBetween', () => {
  it('names what files say now, and apart what they do not say any more', async () => {
    const before = await files('Van 14,,21,2026-11-20 06:00,\nVan 12,,22,2026-11-20 06:00,\n')
    const devices = `${DEVICES.replace('courier_id: 43', 'courier_id: 44').replace(/^"80".*$/m, '')}\n"15": { company_id: 7 }`
    const after = await files('Van 12,,22,2026-11-20 06:00,\nVan 14,,23,2026-11-20 06:00,\n', devices)
    expect(shortly(await writesBetween(before, after))).toEqual([
      ['device 14 …', 'device 15 …', keyOf('23'), 'device 80 gone'],
      ['device 14 …', 'device 80 …', keyOf('21'), 'device 15 gone'],
    ])
  })

  it('takes back with a second change what it named of the first', async () => {
    const before = await files('Van 14,,21,2026-11-20 06:00,\n')
    const after = await files('Van 14,,23,2026-11-20 06:00,\n', `${DEVICES}"15": { company_id: 7 }`)
    const [there, back] = [await writesBetween(before, after), await writesBetween(after, before)]
    expect([back.written.toSorted(), back.gone.toSorted()]).toEqual([there.gone.toSorted(), there.written.toSorted()])
  })

  it('has nothing to say of the same lines in another order, or at other places', async () => {
    const before = await files('Van 14,,21,2026-11-20 06:00,\nVan 12,,22,2026-11-20 06:00,\n')
    const after = await files(
      '\n# again\nVan 12 , , 22, 2026-11-20 06:00,\n"Van 14",,21,2026-11-20 06:00,\n',
      `\n${DEVICES}`,
    )
    expect(await writesBetween(before, after)).toEqual({ written: [], gone: [] })
  })

  it('has nothing to say of a line that another file says before and after, whether there is a copy or not', async () => {
    const copied = line('21')
    const texts = { 'routes.csv': HEADER + copied, 'routes/extra.csv': HEADER + copied }
    const before = await filesWith(texts)
    const after = await filesWith({ ...texts, 'routes.csv': HEADER + line('23') }, before)
    expect(await writesBetween(before, after)).toEqual({ written: [keyOf('23')], gone: [] })
    expect(await writesBetween(after, before)).toEqual({ written: [], gone: [keyOf('23')] })
  })

  it('has nothing to say of the same lines and entries in another time zone, or with other secrets', async () => {
    const [before, after] = [await inZone('+00:00', 'old'), await inZone('+00:15', 'canary')]
    const begins = [before, after].map(({ routes }) => routes[0].content.rows[0].from)
    expect([await writesBetween(before, after), begins[0] - begins[1]]).toEqual([{ written: [], gone: [] }, 900])
  })

  it('has no secret of a device to say, nor anything that is made of it', async () => {
    const before = await files('')
    const writesOf = async (secret: string) =>
      writesBetween(before, await files('', `${DEVICES}"15": { company_id: 7, secret: ${secret} }`))
    const writes = await writesOf('canary')
    expect(writes.written).toHaveLength(1)
    expect(writes).toEqual(await writesOf('other'))
  })
})

const line = (route: string) => `Van 14,,${route},2026-11-20 06:00,\n`

/** Files of these texts; those that are as in `previous` are the same objects. */
function filesWith(texts: Readonly<Record<string, string>>, previous?: Files) {
  const all = new Map(Object.entries({ 'gateway.yaml': GATEWAY, 'devices.yaml': DEVICES, ...texts }))
  return filesOf('', all, { protocols: PROTOCOLS, previous })
}

function inZone(zone: string, secret: string) {
  const texts = new Map([
    ['gateway.yaml', `${GATEWAY}time_zone: "${zone}"`],
    ['devices.yaml', `"15": { company_id: 7, secret: ${secret} }`],
    ['routes.csv', `${HEADER}15,1,21,2026-11-20 06:00,2026-11-20 20:00\n`],
  ])
  return filesOf('', texts, { protocols: PROTOCOLS })
}

it('edits of nothing change nothing', async () => {
  const dir = await folder({ 'gateway.yaml': COMPANY, 'devices.yaml': '1: { company_id: 7 }' })
  const loaded = await loadedOf(await readFiles(dir, { protocols: PROTOCOLS }))
  expect([loaded.edits, loaded.devices.length]).toEqual([NO_EDITS, 1])
})
