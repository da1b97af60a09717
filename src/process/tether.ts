import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { within } from '../async.ts'

/** A program that ends when this process does. */
export interface Tethered {
  isRunning(): boolean
  /** Resolves once it has ended. */
  readonly exited: Promise<void>
  /** Asks it to end (SIGTERM) and, after `patienceMs`, makes it; resolves once it has ended. */
  end(patienceMs: number): Promise<void>
}

const TETHER = fileURLToPath(new URL('tether.sh', import.meta.url))

/** Runs a command in a session of its own, so that a Ctrl-C does not reach it, its output appended to the file `log`. */
export function spawnTethered(command: string[], { env, log }: { env: NodeJS.ProcessEnv; log: string }): Tethered {
  const output = openSync(log, 'a', 0o600)
  const child = spawn('/bin/sh', [TETHER, ...command], {
    env,
    detached: true,
    stdio: ['pipe', output, output],
  })
  closeSync(output)
  const exited = once(child, 'exit').then(() => undefined)
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return { isRunning, exited, end }

  async function end(patienceMs: number): Promise<void> {
    if (isRunning() && child.pid) process.kill(child.pid, 'SIGTERM')
    await within(patienceMs, exited)
    if (isRunning() && child.pid) process.kill(-child.pid, 'SIGKILL')
    await exited
  }
}
