import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { CLI } from './processes.ts'

/** The command line in a process of its own. */
export interface Command {
  readonly process: ChildProcess
  /** The exit code. */
  readonly ended: Promise<number | null>
  readonly lines: () => string[]
  readonly errors: () => string
  /** Resolves once the output matches; the test's own limit is the deadline. */
  readonly says: (pattern: RegExp) => Promise<void>
}

export function startCommand(args: readonly string[], cwd?: string): Command {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  return {
    process: child,
    ended: once(child, 'close').then(([code]) => code as number | null),
    lines: () => out.trimEnd().split('\n'),
    errors: () => errors,
    async says(pattern) {
      while (!pattern.test(out)) await once(child.stdout, 'data')
    },
  }
}
