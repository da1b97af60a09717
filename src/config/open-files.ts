import { readFileSync } from 'node:fs'

/**
 * Returns how many device connections fit into the files that a process may open; `Infinity` if the system does not report a
 * limit.
 */
export function connectionsThatFit(files = maxOpenFiles()): number {
  return files - reserveOf(files)
}

/** Why a configured number of connections is too high for this number of gateways; undefined if they fit. */
export function openFilesMistake(connections: number, gateways = 1, files = maxOpenFiles()): string | undefined {
  const most = connectionsThatFit(files)
  const each = Math.ceil(connections / gateways)
  if (!(each > most)) return undefined
  const needed = each + reserveOf(files)
  const whose = gateways > 1 ? `${each} connections of each gateway` : `${connections} connections`
  return `${whose} need ${needed} open files, and a process may open ${files}: raise that limit (ulimit -n, LimitNOFILE), or set at most ${most * gateways}`
}

/** Returns the number of files for other purposes: waybridge's own, connections to Redis. */
function reserveOf(files: number): number {
  return Math.min(MAX_RESERVE, Math.ceil(files / 10))
}

/** Node raises its soft limit to the hard one when it starts. */
function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const MAX_RESERVE = 1000
