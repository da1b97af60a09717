import { setTimeout as sleep } from 'node:timers/promises'
import type { Product } from '../../rig/product.ts'
import { Inspector } from '../../support/inspector.ts'
import { residentBytes } from '../../support/processes.ts'

/** What the gateways of a product hold, bytes, all together: after a garbage collection, on the heap and outside of it; and resident. */
export async function collectedMemory(product: Product): Promise<{ heap: number; resident: number }> {
  let [heap, resident] = [0, 0]
  for (const pid of product.pidsOf('gateway')) {
    const address = addresses.get(pid) ?? (await opened(product, pid))
    addresses.set(pid, address)
    const inspector = await Inspector.open(address)
    heap += await inspector.heapBytes()
    inspector.close()
    resident += residentBytes(pid)
  }
  return { heap, resident }
}

/** By process: a process says its address once. */
const addresses = new Map<number, string>()

/** Has a process open its inspector; returns the address. */
async function opened(product: Product, pid: number): Promise<string> {
  const before = product.said().length
  process.kill(pid, 'SIGUSR1')
  for (let tries = 0; tries < 100; tries++) {
    const [, address] = /Debugger listening on (ws:\S+)/.exec(product.said().slice(before)) ?? []
    if (address) return address
    await sleep(50)
  }
  throw new Error(`process ${pid} opens no inspector`)
}
