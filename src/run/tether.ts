import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A program that ends when this process does. */
export interface Tethered {
  isRunning(): boolean
  /** Resolves once it has ended. */
  readonly exited: Promise<void>
  /** Asks it to end (SIGTERM) and, after `patienceMs`, makes it; resolves once it has ended. */
  end(patienceMs: number): Promise<void>
}

/*
 * The shell holds the far end of a pipe to us. The kernel closes ours when we die, even by SIGKILL, and the watcher's
 * `read` returns. A background job's stdin is /dev/null, therefore descriptor 3. A trapped signal ends `wait` early,
 * therefore the loop.
 */
const SCRIPT = `
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
(read -r _ <&3; kill "$program") 2>/dev/null &
watcher=$!
exec 3<&-
trap 'kill "$program"' TERM INT HUP
while kill -0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
kill "$watcher" 2>/dev/null
exit "$code"`

/** Runs a command in a session of its own, so that a Ctrl-C does not reach it, its output appended to the file `log`. */
export function spawnTethered(command: string[], { env, log }: { env: NodeJS.ProcessEnv; log: string }): Tethered {
  const output = openSync(log, 'a', 0o600)
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...command], {
    env,
    detached: true,
    stdio: ['pipe', output, output],
  })
  closeSync(output)
  const exited = once(child, 'exit').then(() => undefined)
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return { isRunning, exited, end }

  async function end(patienceMs: number): Promise<void> {
    child.stdin?.end()
    const cut = new AbortController()
    await Promise.race([exited, delay(patienceMs, undefined, { signal: cut.signal }).catch(() => {})])
    cut.abort()
    if (isRunning() && child.pid) process.kill(-child.pid, 'SIGKILL')
    await exited
  }
}
