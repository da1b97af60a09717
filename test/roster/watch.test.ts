import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Loaded, loadConfig, problemText } from '../../src/roster/load.ts'
import { type Change, watchConfig } from '../../src/roster/watch.ts'
import { COMPANY, folder, PROTOCOLS } from '../support/config-folder.ts'

const FLEET = {
  'gateway.yaml': COMPANY,
  'devices.yaml': devices(1, 2, 3),
  'routes.csv': routes([1, 11], [2, 12], [3, 13]),
}

function devices(...ids: number[]): string {
  return ids.map((id) => `${id}: { company_id: 7, courier_id: 4${id} }\n`).join('')
}

/** Lines that hold now: from an hour ago until in an hour. */
function routes(...pairs: [device: number, route: number][]): string {
  return `device,route_id,from,until\n${pairs.map(([device, route]) => `${device},${route},${inHours(-1)},${inHours(1)}\n`).join('')}`
}

function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString()
}

/** The route of a device now, `company/courier/route`. */
function laneOf({ directory }: Loaded, id: string): string | undefined {
  const entry = directory.find(id)
  return entry && directory.laneAt(entry, Date.now() / 1000)?.key
}

/** A configuration that is watched, and the next change of it that is reported. */
async function watched(files: Record<string, string> = FLEET) {
  const dir = await folder(files)
  return { dir, ...(await watchedFolder(dir)) }
}

async function watchedFolder(dir: string) {
  const reported: Change[] = []
  let hear: (() => void) | undefined
  const loaded = await loadConfig(dir, PROTOCOLS)
  const files = (change: Change) => {
    reported.push(change)
    hear?.()
  }
  const watch = watchConfig({ dir, protocols: PROTOCOLS, start: loaded }, { files, edits: () => {} })
  onTestFinished(() => watch.close())
  await watch.first
  expect(reported.splice(0).map(({ refused }) => refused)).toEqual([[]])
  const next = async (): Promise<Change> => {
    if (reported.length === 0) await new Promise<void>((resolve) => (hear = resolve))
    return reported.shift()!
  }
  return { next, reported, loaded, watch }
}

function refusals({ refused }: Change, dir: string): string[] {
  return refused.map((problem) => problemText(problem).replace(`${dir}/`, ''))
}

function lost(count: number): string {
  return `routes.csv: would take the route from ${count} of the 3 devices that have one now: the routes of before stay in effect`
}

describe('watchConfig', () => {
  it('brings a new line of routes.csv into effect', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'routes.csv'), routes([1, 21], [2, 12], [3, 13]))
    const change = await next()
    expect([laneOf(change.loaded, '1'), change.refused, change.atNextStart]).toEqual(['7/41/21', [], []])
  })

  it('sees a file replaced by rename', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'routes.csv.new'), routes([1, 21], [2, 12], [3, 13]))
    await rename(join(dir, 'routes.csv.new'), join(dir, 'routes.csv'))
    expect(laneOf((await next()).loaded, '1')).toBe('7/41/21')
  })

  it('sees a file of the same size replaced by rename, again and again', async () => {
    const { dir, next } = await watched()
    for (const route of [21, 22, 23, 24]) {
      await writeFile(join(dir, 'new'), routes([1, route], [2, 12], [3, 13]))
      await rename(join(dir, 'new'), join(dir, 'routes.csv'))
      expect(laneOf((await next()).loaded, '1')).toBe(`7/41/${route}`)
    }
  })

  it('sees a link that leads elsewhere, as mounted configurations are replaced', async () => {
    const dir = await folder({ 'one/routes.csv': routes([1, 11]), 'two/routes.csv': routes([1, 21]), ...FLEET })
    await symlink('one', join(dir, 'data'))
    await rm(join(dir, 'routes.csv'))
    await symlink('data/routes.csv', join(dir, 'routes.csv'))
    const { next } = await watchedFolder(dir)
    await symlink('two', join(dir, 'data.new'))
    await rename(join(dir, 'data.new'), join(dir, 'data'))
    expect(laneOf((await next()).loaded, '1')).toBe('7/41/21')
  })

  it('sees a folder routes/ that comes later', async () => {
    const { dir, next } = await watched()
    await mkdir(join(dir, 'routes'))
    await writeFile(join(dir, 'routes', 'late.csv'), routes([1, 21]))
    const { loaded } = await next()
    expect(loaded.routes.map(({ source }) => source)).toContain('routes/late.csv:2')
  })

  it('sees what changed between loading and watching', async () => {
    const dir = await folder(FLEET)
    const loaded = await loadConfig(dir, PROTOCOLS)
    await writeFile(join(dir, 'devices.yaml'), devices(1, 2, 3, 4))
    const change = await new Promise<Change>((resolve) => {
      const watch = watchConfig({ dir, protocols: PROTOCOLS, start: loaded }, { files: resolve, edits: () => {} })
      onTestFinished(() => watch.close())
    })
    expect(change.loaded.devices.map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
  })

  it('brings devices and companies into effect, and looks up route lines anew', async () => {
    const { dir, next } = await watched({ ...FLEET, 'routes.csv': routes([1, 11], [2, 12], [3, 13], [4, 14]) })
    await writeFile(
      join(dir, 'gateway.yaml'),
      'companies: [{ company_id: 7, apikey: new }, { company_id: 8, apikey: k }]',
    )
    expect((await next()).loaded.config.companies).toEqual([
      { company_id: '7', apikey: 'new' },
      { company_id: '8', apikey: 'k' },
    ])
    await writeFile(join(dir, 'devices.yaml'), devices(1, 2, 3) + '4: { company_id: 8, courier_id: 44 }\n')
    expect(laneOf((await next()).loaded, '4')).toBe('8/44/14')
  })

  it('names the settings that take effect at the next start, and leaves them', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'gateway.yaml'), `${COMPANY}batch: { max_wait: 5s }\nworkers: 3\nlisteners: []\n`)
    const { loaded, atNextStart } = await next()
    expect(atNextStart).toEqual(['listeners', 'batch.max_wait', 'workers'])
    expect([loaded.config.workers, loaded.config.batch.max_wait, loaded.config.listeners.length]).toEqual([1, 1000, 3])
  })

  it('says nothing of a file that is written again as it was', async () => {
    const { dir, next, reported } = await watched()
    await writeFile(join(dir, 'devices.yaml'), FLEET['devices.yaml'])
    await writeFile(join(dir, 'routes.csv'), routes([1, 21], [2, 12], [3, 13]))
    await next()
    expect(reported).toEqual([])
  })
})

describe('a wrong file', () => {
  it('leaves what is in effect, says so with all mistakes, and so does its repair', async () => {
    const { dir, next, loaded } = await watched()
    await writeFile(join(dir, 'devices.yaml'), `${devices(1, 2)}3: { company: 7 }\n3: { company_id: 9 }\n`)
    const wrong = await next()
    expect(refusals(wrong, dir)).toEqual([
      'devices.yaml:3:4 3.company_id: missing',
      'devices.yaml:3:6 3.company: unknown key: did you mean company_id?',
      'devices.yaml:4:18 3.company_id: company 9 is not among the companies of gateway.yaml',
    ])
    expect(wrong.loaded.devices).toEqual(loaded.devices)
    await writeFile(join(dir, 'devices.yaml'), FLEET['devices.yaml'])
    expect((await next()).refused).toEqual([])
  })

  it('does not hold up the right ones', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'gateway.yaml'), 'companies: [')
    expect((await next()).loaded.config.companies).toEqual([{ company_id: '7', apikey: 'k' }])
    await writeFile(join(dir, 'routes.csv'), routes([1, 21], [2, 12], [3, 13]))
    const change = await next()
    expect([laneOf(change.loaded, '1'), change.refused.length]).toEqual(['7/41/21', 1])
  })

  it('leaves company and devices, where a company goes that has devices', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'gateway.yaml'), 'companies: [{ company_id: 8, apikey: k }]')
    const change = await next()
    expect(change.loaded.config.companies).toEqual([{ company_id: '7', apikey: 'k' }])
    expect(refusals(change, dir)[0]).toBe(
      'devices.yaml:1:18 1.company_id: company 7 is not among the companies of gateway.yaml',
    )
  })

  it('that is gone leaves its devices', async () => {
    const { dir, next } = await watched()
    await rm(join(dir, 'devices.yaml'))
    const change = await next()
    expect(refusals(change, dir)).toEqual(['devices.yaml: this file is gone: its devices stay in effect'])
    expect(change.loaded.devices.length).toBe(3)
  })

  it('or a folder that cannot be read leaves everything, and is no folder that is gone', async () => {
    const { dir, next } = await watched({ 'routes/one.csv': routes([1, 11]), ...FLEET, 'routes.csv': '' })
    await rename(join(dir, 'routes'), join(dir, 'away'))
    await symlink('routes', join(dir, 'routes'))
    const change = await next()
    expect(refusals(change, dir)).toEqual(['routes: cannot be read (ELOOP)'])
    expect(laneOf(change.loaded, '1')).toBe('7/41/11')
    await rm(join(dir, 'routes'))
    await rename(join(dir, 'away'), join(dir, 'routes'))
    const back = await next()
    expect([back.refused, laneOf(back.loaded, '1')]).toEqual([[], '7/41/11'])
  })

  it('or a directory that is gone leaves everything', async () => {
    const { dir, next } = await watched()
    await rename(dir, `${dir}.away`)
    const change = await next()
    expect(refusals(change, dir)).toEqual([`${dir}: there is no such directory`])
    expect(change.loaded.devices.length).toBe(3)
    await rename(`${dir}.away`, dir)
    expect((await next()).refused).toEqual([])
  })
})

describe('routes that are lost', () => {
  it.each([
    ['empty', '', 3],
    ['cut off', routes([1, 21]), 2],
    ['without lines of today', routes([1, 21], [2, 22], [3, 23]).replace(/\d{4}-/g, '2031-'), 3],
  ])('to a file that is %s: it is refused whole', async (_, text, count) => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'routes.csv'), text)
    const change = await next()
    expect(refusals(change, dir)).toEqual([lost(count)])
    expect(['1', '2', '3'].map((id) => laneOf(change.loaded, id))).toEqual(['7/41/11', '7/42/12', '7/43/13'])
  })

  it('to a file that is gone: its lines stay, until it is back', async () => {
    const { dir, next } = await watched()
    await rm(join(dir, 'routes.csv'))
    const gone = await next()
    expect(refusals(gone, dir)).toEqual([lost(3)])
    await writeFile(join(dir, 'devices.yaml'), devices(1, 2, 3, 4))
    const still = await next()
    expect([refusals(still, dir), still.loaded.devices.length, laneOf(still.loaded, '1')]).toEqual([
      [lost(3)],
      4,
      '7/41/11',
    ])
    await writeFile(join(dir, 'routes.csv'), routes([1, 21], [2, 12], [3, 13], [4, 14]))
    const back = await next()
    expect([back.refused, laneOf(back.loaded, '1'), laneOf(back.loaded, '4')]).toEqual([[], '7/41/21', '7/44/14'])
  })

  it('to a header that is wrong: its lines stay', async () => {
    const { dir, next } = await watched()
    await writeFile(join(dir, 'routes.csv'), 'device,from\n')
    const change = await next()
    expect(refusals(change, dir)).toEqual(['routes.csv:1: route_id: this column is missing'])
    expect(laneOf(change.loaded, '1')).toBe('7/41/11')
  })

  it('until old lines have ended: then they take effect without another change', async () => {
    const until = new Date(Date.now() + 2500).toISOString()
    const today = [1, 2, 3].map((device) => `${device},1${device},${inHours(-1)},${until}\n`).join('')
    const tomorrow = [1, 2, 3].map((device) => `${device},2${device},${inHours(10)},${inHours(20)}\n`).join('')
    const { dir, next, reported } = await watched({ ...FLEET, 'routes.csv': `device,route_id,from,until\n${today}` })
    await writeFile(join(dir, 'routes.csv'), `device,route_id,from,until\n${tomorrow}`)
    expect(refusals(await next(), dir)).toEqual([lost(3)])
    const change = await next()
    expect([change.refused, change.withLoss, Date.now() >= Date.parse(until)]).toEqual([[], undefined, true])
    expect(change.loaded.routes.map(({ route_id }) => route_id)).toEqual(['21', '22', '23'])
    expect(reported).toEqual([])
  })

  it('by no more than half of the devices: they take effect', async () => {
    const { dir, next } = await watched({ ...FLEET, 'routes.csv': routes([1, 11], [2, 12]) })
    await writeFile(join(dir, 'routes.csv'), routes([1, 21]))
    const change = await next()
    expect([change.refused, laneOf(change.loaded, '1'), laneOf(change.loaded, '2')]).toEqual([[], '7/41/21', undefined])
  })

  it('by devices that have one of their own: they take effect', async () => {
    const own = [1, 2, 3].map((id) => `${id}: { company_id: 7, courier_id: 4${id}, route_id: 9${id} }\n`).join('')
    const { dir, next } = await watched({ ...FLEET, 'devices.yaml': own })
    await writeFile(join(dir, 'routes.csv'), '')
    const change = await next()
    expect([change.refused, laneOf(change.loaded, '1')]).toEqual([[], '7/41/91'])
  })
})
