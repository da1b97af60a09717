import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The ids of the processes whose command line, word by word, is what is looked for. */
export function pidsWhere(matches: (words: string[]) => boolean): number[] {
  return pids((pid) => matches(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')))
}

/** The processes that have a word of their own in their command line, and somewhere the folder that they work for. */
export function pidsWith(dir: string, word: string): number[] {
  return pidsWhere((words) => words.some((each) => each.includes(dir)) && words.includes(word))
}

/** The processes that work in a folder. */
export function pidsIn(dir: string): number[] {
  return pids((pid) => readlinkSync(`/proc/${pid}/cwd`) === dir)
}

/** The process that started it, or has taken it over; undefined where there is none of that id any more. */
export function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** Sends a signal; does nothing where the process has ended already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** One that ends meanwhile is none. */
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
