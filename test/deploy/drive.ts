import { once } from 'node:events'
import { expect } from 'vitest'
import { createFleet, devicesYaml } from '../../src/sandbox/fleet.ts'
import { speechesOption } from '../../src/sandbox/options.ts'
import { start } from './engine.ts'
import { ROOT } from './place.mjs'

/* Vans that send to a site in the namespace, and the files that make them its own. */

const VANS = 12
/** Each answers a fix once it is stored; the site publishes their ports. */
export const SPEECHES = 'teltonika-8e,gt06,osmand,fix'
const OAUTH = 'deploy-oauth-token'
export const SOON = { timeout: 90_000, interval: 500 }

/** Of gateway.yaml. */
export const COMPANY = `companies: [{ company_id: 1, apikey: deploy-apikey, oauth_token: ${OAUTH} }]`

/** Of devices.yaml. */
export function devicesOf(speeches: string): string {
  return devicesYaml(createFleet(VANS, speechesOption(speeches)))
}

type Load = ReturnType<typeof drive>

/** Lets vans send until `end`, which resolves to how it ended. */
export function drive(speeches: string) {
  let last: Record<string, number> = {}
  const say = (line: string) => {
    last = Object.fromEntries(line.split(' ').map((part) => [part.split('=')[0], Number(part.split('=')[1])]))
  }
  const options = [`${VANS}`, speeches, 'http://127.0.0.1:8090', OAUTH]
  const child = start(say, process.execPath, `${ROOT}/test/deploy/load.ts`, ...options)
  return {
    acked: () => last.acked ?? 0,
    async end() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      return { ...last, missing: last.sent - last.acked }
    },
  }
}

/** Resolves once the vans have had two more fixes each acknowledged, to the seconds that this took. */
export async function goesOn(load: Load): Promise<number> {
  const [acked, begun] = [load.acked(), performance.now()]
  await expect.poll(load.acked, SOON).toBeGreaterThan(acked + 2 * VANS)
  return (performance.now() - begun) / 1000
}
