import type { ChildProcess } from 'node:child_process'

/** Asks another process of Node by its inspector, in V8's protocol. */
export class Inspector {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (result: unknown) => void>()
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
      this.#waiting.get(id)?.(result)
      this.#waiting.delete(id)
    })
  }

  static async open(address: string): Promise<Inspector> {
    const socket = new WebSocket(address)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error(`no inspector at ${address}`)))
    })
    return new Inspector(socket)
  }

  call<Result>(method: string, params: object = {}): Promise<Result> {
    const id = ++this.#lastId
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#waiting.set(id, resolve as (result: unknown) => void))
  }

  /** What the process holds on its heap and outside of it after a garbage collection, bytes. */
  async heapBytes(): Promise<number> {
    await this.call('HeapProfiler.collectGarbage')
    const { result } = await this.call<{ result: { value: number } }>('Runtime.evaluate', { expression: MEMORY })
    return result.value
  }

  close(): void {
    this.#socket.close()
  }
}

/** The inspector's address, from the standard error of a process that was started with `--inspect=0`. */
export async function inspectorOf(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (bytes) => {
      output += bytes
      const address = /ws:\/\/\S+/.exec(output)
      if (address) resolve(address[0])
    })
    child.once('exit', () => reject(new Error(`a process ended before it was inspected: ${output}`)))
  })
}

const MEMORY = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'
