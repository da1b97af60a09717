import { setTimeout as sleep } from 'node:timers/promises'
import { Inspector } from '../../support/inspector.ts'
import { residentBytes } from '../e2e/rig.ts'
import type { Site } from '../e2e/site.ts'

/** What the gateways of a site hold, bytes, all together: after a garbage collection, on the heap and outside of it; and resident. */
export async function collectedMemory(site: Site): Promise<{ heap: number; resident: number }> {
  let [heap, resident] = [0, 0]
  for (const pid of site.gateways) {
    const address = addresses.get(pid) ?? (await opened(site, pid))
    addresses.set(pid, address)
    const inspector = await Inspector.open(address)
    heap += await inspector.heapBytes()
    inspector.close()
    resident += await residentBytes(pid)
  }
  return { heap, resident }
}

/** By process: a process says its address once. */
const addresses = new Map<number, string>()

/** Has a process open its inspector; answers the address. */
async function opened(site: Site, pid: number): Promise<string> {
  const before = site.said.length
  process.kill(pid, 'SIGUSR1')
  for (let tries = 0; tries < 100; tries++) {
    const [, address] = /Debugger listening on (ws:\S+)/.exec(site.said.slice(before)) ?? []
    if (address) return address
    await sleep(50)
  }
  throw new Error(`process ${pid} opens no inspector`)
}
