import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acceptedFile, keepAccepted } from '../../src/roster/accepted.ts'
import { ConfigError, type Loaded, loadConfig, problemText } from '../../src/roster/load.ts'
import { resumeConfig } from '../../src/roster/resume.ts'
import { type Change, watchConfig } from '../../src/roster/watch.ts'
import { folder, PROTOCOLS } from '../support/config-folder.ts'

const COMPANIES = 'companies: [{ company_id: 7, apikey: k }]\n'
const DEVICES = [1, 2, 3].map((id) => `${id}: { company_id: 7, courier_id: 4${id} }\n`).join('')

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

/** Lines of devices 1, 2, 3 … that hold now. */
function routes(...ids: number[]): string {
  const lines = ids.map((route, index) => `${index + 1},${route},${inHours(-1)},${inHours(1)}\n`)
  return `device,route_id,from,until\n${lines.join('')}`
}

/** A configuration that is in effect, as a running process has kept it; and what `change` then makes of its files. */
async function kept(
  change: Readonly<Record<string, string | null>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const dir = await folder({ 'gateway.yaml': '', 'devices.yaml': DEVICES, 'routes.csv': routes(11, 12, 13), ...files })
  const dataDir = join(dir, 'data')
  const write = (name: string, text: string) =>
    writeFile(join(dir, name), name === 'gateway.yaml' ? `data_dir: ${dataDir}\n${text || COMPANIES}` : text)
  await write('gateway.yaml', files['gateway.yaml'] ?? '')
  await keepAccepted(dataDir, (await loadConfig(dir, PROTOCOLS)).files)
  for (const [name, text] of Object.entries(change)) await (text === null ? rm(join(dir, name)) : write(name, text))
  return { dir, dataDir, write }
}

function lanes({ directory }: Pick<Loaded, 'directory'>): (string | undefined)[] {
  return ['1', '2', '3'].map((id) => {
    const entry = directory.find(id)
    return entry && directory.laneAt(entry, Date.now() / 1000)?.key
  })
}

/** What becomes of the files of a folder as a process starts. */
async function started(dir: string): Promise<Change> {
  const start = await resumeConfig(dir, PROTOCOLS)
  const { promise, resolve } = Promise.withResolvers<Change>()
  const watch = watchConfig({ dir, protocols: PROTOCOLS, start }, { files: resolve, edits: () => {} })
  onTestFinished(() => watch.close())
  return promise
}

function refusals({ refused }: Change, dir: string): string[] {
  return refused.map((problem) => problemText(problem).replace(`${dir}/`, ''))
}

const BEFORE = ['7/41/11', '7/42/12', '7/43/13']
const LOST =
  'routes.csv: would take the route from 3 of the 3 devices that have one now: the routes of before stay in effect'

describe('a start', () => {
  it('takes what is on disk where nothing is kept', async () => {
    const { dir, dataDir } = await kept({ 'routes.csv': '' })
    await rm(acceptedFile(dataDir))
    const start = await started(dir)
    expect([lanes(start.loaded), start.refused]).toEqual([[undefined, undefined, undefined], []])
  })

  it('has nothing to say of files that are as they were', async () => {
    const { dir } = await kept()
    const { loaded, refused, atNextStart, withLoss } = await started(dir)
    expect([lanes(loaded), refused, atNextStart, withLoss]).toEqual([BEFORE, [], [], undefined])
  })

  it.each([
    ['empty', ''],
    ['gone', null],
  ])('goes on refusing routes that are %s', async (_, text) => {
    const { dir } = await kept({ 'routes.csv': text })
    const start = await started(dir)
    expect([lanes(start.loaded), refusals(start, dir)]).toEqual([BEFORE, [LOST]])
    expect(start.withLoss && lanes({ directory: start.withLoss })).toEqual([undefined, undefined, undefined])
  })

  it('takes what may take effect', async () => {
    const { dir } = await kept({ 'routes.csv': routes(21, 12), 'devices.yaml': `${DEVICES}4: { company_id: 7 }\n` })
    const start = await started(dir)
    expect([lanes(start.loaded), start.refused]).toEqual([['7/41/21', '7/42/12', undefined], []])
    expect(start.loaded.devices.length).toBe(4)
  })

  it('takes new devices beside routes that are refused', async () => {
    const { dir } = await kept({ 'routes.csv': '', 'devices.yaml': `${DEVICES}4: { company_id: 7 }\n` })
    const { loaded } = await started(dir)
    expect([lanes(loaded), loaded.devices.length]).toEqual([BEFORE, 4])
  })

  it('goes on without devices that are wrong, and with a company that devices still have', async () => {
    const { dir, write } = await kept({ 'devices.yaml': '1: { company_id: 8 }\n' })
    const wrong = await started(dir)
    expect([lanes(wrong.loaded), wrong.refused.length]).toEqual([BEFORE, 1])
    await write('devices.yaml', DEVICES)
    await write('gateway.yaml', 'companies: [{ company_id: 8, apikey: k }]')
    const { loaded, refused } = await started(dir)
    expect([loaded.config.companies.map(({ company_id }) => company_id), refused.length]).toEqual([['7'], 3])
  })

  it('takes the settings of gateway.yaml, which has to be right', async () => {
    const { dir, write } = await kept({ 'gateway.yaml': `${COMPANIES}workers: 3\n` })
    const { loaded, atNextStart } = await started(dir)
    expect([loaded.config.workers, atNextStart]).toEqual([3, []])
    await write('gateway.yaml', 'workers: many')
    await expect(started(dir)).rejects.toThrow(ConfigError)
  })

  it('reads local times of both in the time zone of now', async () => {
    const local = 'device,route_id,from,until\n1,11,2030-06-01 06:00,2030-06-01 20:00\n'
    const { dir } = await kept({ 'gateway.yaml': `${COMPANIES}time_zone: "+03:00"\n` }, { 'routes.csv': local })
    const same = await started(dir)
    expect(same.loaded.routes.map(({ from }) => from)).toEqual([Date.UTC(2030, 5, 1, 3) / 1000])
    await writeFile(join(dir, 'routes.csv'), `${local}2,12,2030-06-01 06:00,\n`)
    const more = await started(dir)
    expect(more.loaded.routes.map(({ from }) => from)).toEqual(Array(2).fill(Date.UTC(2030, 5, 1, 3) / 1000))
  })

  it('takes what is on disk where what is kept is wrong by now', async () => {
    process.env.WAYBRIDGE_TEST_SECRET = 's'
    onTestFinished(() => void delete process.env.WAYBRIDGE_TEST_SECRET)
    const secret = '1: { company_id: 7, secret: "${env:WAYBRIDGE_TEST_SECRET}" }\n'
    const { dir, write } = await kept({ 'routes.csv': '' }, { 'devices.yaml': secret })
    delete process.env.WAYBRIDGE_TEST_SECRET
    await expect(started(dir)).rejects.toThrow('WAYBRIDGE_TEST_SECRET is not set')
    await write('devices.yaml', DEVICES)
    expect(lanes((await started(dir)).loaded)).toEqual([undefined, undefined, undefined])
  })
})

it('routes that a start refused take effect once old lines have ended', async () => {
  const until = new Date(Date.now() + 2500).toISOString()
  const ending = `device,route_id,from,until\n1,11,${inHours(-1)},${until}\n`
  const { dir } = await kept({ 'routes.csv': '' }, { 'routes.csv': ending })
  const start = await resumeConfig(dir, PROTOCOLS)
  const changes: Change[] = []
  const on = { files: (change: Change) => void changes.push(change), edits: () => {} }
  const watch = watchConfig({ dir, protocols: PROTOCOLS, start }, on)
  onTestFinished(() => watch.close())
  await watch.first
  expect([refusals(changes[0], dir).length, lanes(changes[0].loaded)[0]]).toEqual([1, '7/41/11'])
  await expect.poll(() => changes.length, { timeout: 10_000 }).toBe(2)
  expect([changes[1].refused, changes[1].loaded.routes, Date.now() >= Date.parse(until)]).toEqual([[], [], true])
})

describe('what is kept', () => {
  it('is for its owner alone: devices have secrets', async () => {
    const { dataDir } = await kept()
    expect((await stat(acceptedFile(dataDir))).mode & 0o777).toBe(0o600)
  })

  it('is named where it cannot be read', async () => {
    const { dir, dataDir } = await kept()
    await writeFile(acceptedFile(dataDir), '[["routes.csv"')
    await expect(started(dir)).rejects.toThrow(`${acceptedFile(dataDir)}: cannot be read (it is damaged): delete it`)
  })
})
