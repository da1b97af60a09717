import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Inspector } from '../inspector.ts'
import { ROOT } from './sources.ts'

/** A function that was called: its file, its name (empty if it has none) and how often. */
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

/** Counts calls in the process at an inspector's address from now on. */
export async function startCoverage(inspector: string): Promise<Coverage> {
  const process = await Inspector.open(inspector)
  await process.call('Profiler.enable')
  await process.call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take() {
      const { result } = await process.call<{ result: ScriptCoverage[] }>('Profiler.takePreciseCoverage')
      return calledFunctions(result)
    },
    close: () => process.close(),
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
