import { execFileSync } from 'node:child_process'

/** Mounts a disk of so many bytes, in memory, on a folder; returns false if this process may not. */
export function mountTmpfs(dir: string, bytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
