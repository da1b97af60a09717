import type { ChildProcess } from 'node:child_process'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './sources.ts'

/** A function that was called: its file, its name (empty where it has none) and how often. */
export interface CalledFunction {
  readonly file: string
  readonly name: string
  readonly calls: number
}

/** The calls that V8 counts in another process. */
export interface Coverage {
  /** The functions of the product that were called since the last time, by file and offset. */
  take(): Promise<Map<string, CalledFunction>>
  close(): void
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

/** Counts calls in the process at an inspector's address from now on. */
export async function startCoverage(inspector: string): Promise<Coverage> {
  const socket = new WebSocket(inspector)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${inspector}`)))
  })
  let lastId = 0
  const ask = (method: string, params = {}) => {
    const id = ++lastId
    return new Promise<{ result: ScriptCoverage[] }>((resolve) => {
      const listen = ({ data }: MessageEvent) => {
        const answer = JSON.parse(String(data)) as { id?: number; result: { result: ScriptCoverage[] } }
        if (answer.id !== id) return
        socket.removeEventListener('message', listen)
        resolve(answer.result)
      }
      socket.addEventListener('message', listen)
      socket.send(JSON.stringify({ id, method, params }))
    })
  }
  await ask('Profiler.enable')
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    take: async () => calledFunctions((await ask('Profiler.takePreciseCoverage')).result),
    close: () => socket.close(),
  }
}

interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly {
    readonly functionName: string
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
  }[]
}

function calledFunctions(scripts: readonly ScriptCoverage[]): Map<string, CalledFunction> {
  const called = new Map<string, CalledFunction>()
  for (const { url, functions } of scripts) {
    const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : ''
    if (!/^(src|protocols)\//.test(file)) continue
    for (const { functionName: name, ranges } of functions) {
      const { startOffset, count: calls } = ranges[0]
      // The function at 0 is the module itself.
      if (calls > 0 && startOffset > 0) called.set(`${file}:${startOffset}`, { file, name, calls })
    }
  }
  return called
}
