import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'

/** A folder that is removed after the test; every process that still uses it is killed. */
export async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge run "'))
  onTestFinished(async () => {
    await expect.poll(() => killAll(dir), { timeout: 60_000 }).toBe(0)
    await rm(dir, { recursive: true, force: true, maxRetries: 10 })
  })
  return dir
}

/** The path of a program of the fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`process/${name}`, import.meta.url))
}

/** Returns how many there were. */
function killAll(dir: string): number {
  const left = processesOn(dir)
  for (const { pid } of left) spawnSync('kill', ['-9', String(pid)], { stdio: 'ignore' })
  return left.length
}

/** A program of the fixtures, running. */
export interface Program {
  readonly child: ChildProcess
  /** What it has written to stderr until now. */
  readonly said: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

export function run(args: string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  return { child, said: () => said, ended }
}

/** Runs `start` on a folder; `behaviour` says which roles misbehave and how. */
export async function start(dir: string, roles: object, behaviour: Record<string, string> = {}): Promise<Program> {
  await writeBehaviour(dir, behaviour)
  return run([fixture('start.ts'), dir, JSON.stringify(roles)])
}

/** Writes how roles misbehave: see process/role.ts. */
export async function writeBehaviour(dir: string, behaviour: Record<string, string>): Promise<void> {
  await writeFile(join(dir, 'behaviour.json'), JSON.stringify(behaviour))
}

/** What listens where, once everything is ready. */
export async function portsOf(dir: string): Promise<Record<string, number>> {
  const file = join(dir, 'ports.json')
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true)
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
}

/** The lines of the journal that the roles of process/role.ts write. */
export function journalOf(dir: string): string[] {
  const file = join(dir, 'journal')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** The processes that have the folder in their command line or as working directory. */
export function processesOn(dir: string): { pid: number; command: string[] }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const isOnIt = command.some((word) => word.startsWith(dir)) || readlinkSync(`/proc/${pid}/cwd`).startsWith(dir)
      return isOnIt ? [{ pid: Number(pid), command }] : []
    } catch {
      return []
    }
  })
}
