import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

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
