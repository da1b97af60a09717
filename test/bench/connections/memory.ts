import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../e2e/rig.ts'
import type { Site } from '../e2e/site.ts'

/** What the gateways of a site hold, bytes, all together: after a garbage collection, on the heap and outside of it; and resident. */
export async function collectedMemory(site: Site): Promise<{ heap: number; resident: number }> {
  let [heap, resident] = [0, 0]
  for (const pid of site.gateways) {
    const inspector = await Inspector.of(site, pid)
    await inspector.call('HeapProfiler.collectGarbage')
    const { result } = await inspector.call('Runtime.evaluate', { expression: MEMORY })
    heap += Number(result?.value)
    inspector.close()
    resident += await residentBytes(pid)
  }
  return { heap, resident }
}

const MEMORY = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'

interface InspectorAnswer {
  readonly result?: { readonly value: unknown }
}

class Inspector {
  /** By process: a process says its address once. */
  static readonly #addresses = new Map<number, string>()
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (answer: InspectorAnswer) => void>()

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: InspectorAnswer }
      this.#waiting.get(id)?.(result)
    })
  }

  static async of(site: Site, pid: number): Promise<Inspector> {
    const address = this.#addresses.get(pid) ?? (await opened(site, pid))
    this.#addresses.set(pid, address)
    const socket = new WebSocket(address)
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    return new Inspector(socket)
  }

  call(method: string, params: object = {}): Promise<InspectorAnswer> {
    const id = this.#waiting.size + 1
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  close(): void {
    this.#socket.close()
  }
}

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
