import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The program of the command line. */
export const CLI = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))

/** The ids of the processes whose command line, as a list of words, matches. */
export function pidsWhere(matches: (words: string[]) => boolean): number[] {
  return pids((pid) => matches(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')))
}

/** The processes with this word in their command line, and the folder in one of its words. */
export function pidsWith(dir: string, word: string): number[] {
  return pidsWhere((words) => words.some((each) => each.includes(dir)) && words.includes(word))
}

/** The processes with this working directory. */
export function pidsIn(dir: string): number[] {
  return pids((pid) => readlinkSync(`/proc/${pid}/cwd`) === dir)
}

/** The parent of a process; undefined if the process has ended. */
export function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** Sends a signal; does nothing if the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Ends a child by a signal, after `killAfterMs` by SIGKILL, and waits until it has ended; returns its exit code. */
export async function endChild(
  child: ChildProcess,
  name: NodeJS.Signals = 'SIGTERM',
  killAfterMs?: number,
): Promise<number | null> {
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  if (child.exitCode === null && child.signalCode === null && child.kill(name)) await once(child, 'exit')
  clearTimeout(timer)
  return child.exitCode
}

/** Resident memory of a process, bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** CPU time of processes so far, ms each. */
export function cpuTimes(processes: ReadonlyMap<string, number>): Map<string, number> {
  const times = new Map<string, number>()
  for (const [name, pid] of processes) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    times.set(name, (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK)
  }
  return times
}

/** Kills a child when this program ends, also by a signal. Tests end what they start themselves. */
export function killAtEnd(child: ChildProcess): void {
  if (killedAtEnd.size === 0) {
    process.once('exit', () => killedAtEnd.forEach((each) => each.kill('SIGKILL')))
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))
  }
  killedAtEnd.add(child)
}

const killedAtEnd = new Set<ChildProcess>()

/** The next message of a type that a child sends; rejects if it ends before. */
export function messageOf<Sent extends object>(child: ChildProcess, type: string): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const take = (sent: Sent & { readonly type: string }) => {
      if (sent.type !== type) return
      child.off('message', take).off('exit', fail)
      resolve(sent)
    }
    const fail = (code: number | null) => reject(new Error(`a process ended (${code}) before it sent ${type}`))
    child.on('message', take).once('exit', fail)
  })
}

/** Looks again and again whether something is so, at most for so long; returns whether it is. What rejects is not so. */
export async function untilSo(
  isSo: () => boolean | Promise<boolean>,
  { withinMs = Infinity, everyMs = 50 } = {},
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (;;) {
    if (await Promise.try(isSo).catch(() => false)) return true
    if (performance.now() >= deadline) return false
    await pause(everyMs)
  }
}

const MS_PER_TICK = 10

/** A process that ends meanwhile does not match. */
function pids(matches: (pid: string) => boolean): number[] {
  const found = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && matches(name)
    } catch {
      return false
    }
  })
  return found.map(Number)
}
