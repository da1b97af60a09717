import { type ChildProcess, spawn } from 'node:child_process'
import { CLI, killAtEnd, untilSo } from '../support/processes.ts'

interface RoleOptions {
  /** The folder with its configuration. */
  readonly dir: string
  readonly monitorPort: number
  /** Program of another version. */
  readonly cli?: string
  /** Flags for Node. */
  readonly flags?: readonly string[]
  /** For its standard output and standard error, as in `spawn`. */
  readonly stdio?: readonly ('inherit' | 'pipe' | number)[]
}

/** Starts a role on its own; resolves once it is ready. Rejects if it ends before. */
export async function startRole(role: string, options: RoleOptions): Promise<ChildProcess> {
  const { dir, monitorPort, cli = CLI, flags = [], stdio = ['inherit', 'inherit'] } = options
  const child = spawn(process.execPath, [...flags, cli, role, '--config', dir], { stdio: ['ignore', ...stdio] })
  killAtEnd(child)
  const isOver = async () => child.exitCode !== null || (await isUp(monitorPort, '/readyz'))
  if (!(await untilSo(isOver, { withinMs: READY_MS }))) throw new Error(`${role} is not ready`)
  if (child.exitCode !== null) throw new Error(`${role} ended with ${child.exitCode}`)
  return child
}

/** Whether the monitor of a role answers a path with 200. Rejects if it does not answer. */
export async function isUp(monitorPort: number, path: '/healthz' | '/readyz'): Promise<boolean> {
  const url = `http://127.0.0.1:${monitorPort}${path}`
  return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok
}

/** Of a program that was unpacked just now, nothing is compiled yet. */
const READY_MS = 120_000
