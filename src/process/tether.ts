import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { within } from '../async.ts'

/** A program that ends when this process does. */
export type Tethered = ReturnType<typeof spawnTethered>

/**
 * Runs a command and appends its output to the file `log`. The command runs in a session of its own, so that Ctrl-C does
 * not reach it.
 */
export function spawnTethered(command: string[], { env, log }: { env: NodeJS.ProcessEnv; log: string }) {
  const output = openSync(log, 'a', 0o600)
  const child = spawn('/bin/sh', [TETHER, ...command], { env, detached: true, stdio: ['pipe', output, output] })
  closeSync(output)
  const exited = once(child, 'exit').then(() => undefined)
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return { isRunning, exited, end }

  /** Sends SIGTERM and, after `patienceMs`, SIGKILL; resolves once the program has ended. */
  async function end(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs
    // Sends the signal repeatedly: the shell loses a signal that it receives while it forks.
    while (isRunning() && child.pid && performance.now() < deadline) {
      process.kill(child.pid, 'SIGTERM')
      await within(RESEND_MS, exited)
    }
    if (isRunning() && child.pid) process.kill(-child.pid, 'SIGKILL')
    await exited
  }
}

const RESEND_MS = 250
const TETHER = fileURLToPath(new URL('tether.sh', import.meta.url))
