import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createDirectory } from '../../src/config/directory.ts'
import type { Loaded } from '../../src/config/load.ts'
import { followConfig, type Live } from '../../src/roles/live.ts'
import { startTracking } from '../../src/roles/tracking.ts'
import { folder } from '../config/folder.ts'

/** A configuration without a device, to which one is added just after it is joined. */
async function changing(dir: string): Promise<Live> {
  const live = await followConfig({ dir, protocols: null, role: 'tracking', outspoken: false })
  const device = { id: '1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
  const changed: Loaded = { ...live.loaded(), directory: createDirectory([device], []) }
  const followers: (() => void)[] = []
  let loaded = live.loaded()
  return {
    ...live,
    loaded: () => loaded,
    directory: () => loaded.directory,
    follow: (follower) => void followers.push(follower),
    async join() {
      await setImmediate()
      loaded = changed
      for (const follower of followers) follower()
    },
  }
}

it('what changes while the embedded service starts is in effect once it listens', async () => {
  const dir = await folder({})
  const yaml = `data_dir: ${join(dir, 'data')}\ntracking: { listen: { port: 0 } }\ncompanies: [{ company_id: 7, apikey: k }]\n`
  const live = await changing(await folder({ 'gateway.yaml': `${yaml}log: { level: fatal }\n` }))
  const { ports, close } = await startTracking(live, dir, { ports: {}, redisUrl: null })
  onTestFinished(close)
  const answer = await fetch(
    `http://127.0.0.1:${ports?.tracking}/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=k`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"positions":[]}' },
  )
  expect(answer.status).toBe(200)
})
