import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import { followConfig, type Live } from '../../src/process/roles/live.ts'
import { startTracking } from '../../src/process/roles/tracking.ts'
import type { Roster } from '../../src/roster/roster.ts'
import { folder } from '../support/config-folder.ts'
import { createDirectory } from '../support/roster.ts'
import { turnsDuring } from '../support/turns.ts'

interface Changing extends Live {
  change(roster: Roster): void
}

/** Configuration without a device, with its data in the same folder. */
async function changing(): Promise<Changing> {
  const dir = await folder({})
  const yaml = `data_dir: ${dir}\ntracking: { listen: { port: 0 } }\ncompanies: [{ company_id: 7, apikey: k }]\n`
  const files = await folder({ 'gateway.yaml': `${yaml}log: { level: fatal }\n` })
  const live = await followConfig({ dir: files, protocols: null, role: 'tracking', followsFiles: true })
  const followers: ((changed: undefined) => void)[] = []
  let directory = live.directory()
  return {
    dir: live.dir,
    config: live.config,
    logger: live.logger,
    complete: true,
    companies: () => live.companies(),
    admin: () => live.admin(),
    pulls: () => live.pulls(),
    mappings: () => live.mappings(),
    copies: () => live.copies(),
    version: () => 1,
    files: () => undefined,
    catchUp: () => Promise.resolve(),
    close: () => live.close(),
    directory: () => directory,
    follow: ({ roster }) => void (roster && followers.push(roster)),
    join: () => Promise.resolve(),
    change(roster) {
      directory = roster
      for (const follower of followers) follower(undefined)
    },
  }
}

function vans(count: number): Promise<Roster> {
  const devices = Array.from({ length: count }, (_, n): Device => {
    return { id: `${n}`, company_id: '7', courier_id: '42', route_id: `${1000 + n}`, source: 'devices.yaml' }
  })
  return createDirectory(devices, [])
}

async function start(live: Live) {
  const { ports, close } = await startTracking(live, live.config.data_dir, { ports: {}, redisUrl: null })
  onTestFinished(close)
  return async (route: number) => {
    const path = `/api/v1/couriers/42/routes/${route}/push-positions-v3?apikey=k`
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"positions":[]}' }
    return (await fetch(`http://127.0.0.1:${ports?.tracking}${path}`, request)).status
  }
}

it('the tracking role applies changes that arrive before the embedded service listens', async () => {
  const live = await changing()
  const one = await vans(1)
  const push = await start({ ...live, join: () => setImmediate().then(() => live.change(one)) })
  expect(await push(1000)).toBe(200)
})

it('the tracking role lets other work run while it applies a change among 100,000 lanes', async () => {
  const live = await changing()
  live.change(await vans(100_000))
  const push = await start(live)
  expect([await push(100_999), await push(101_000)]).toEqual([200, 404])
  const database = new DatabaseSync(join(live.config.data_dir, 'tracking.sqlite'), { readOnly: true })
  onTestFinished(() => database.close())
  const count = database.prepare('SELECT count(*) AS lanes FROM lanes')
  const changed = await vans(100_001)
  const { turns } = await turnsDuring(async () => {
    live.change(changed)
    while (count.get()?.lanes !== 100_001) await setImmediate()
  })
  expect(turns).toBeGreaterThan(3)
  expect(await push(101_000)).toBe(200)
})
