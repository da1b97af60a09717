import { execFileSync } from 'node:child_process'
import type { Machine } from './redis-servers.ts'

/**
 * Machines of a network of their own: each is a network namespace on a bridge that this machine is on too. A second bridge is the
 * other side of a split. It ends with this process at the latest.
 */
export interface Network {
  readonly machines: readonly Machine[]
  /** Cuts a machine off from all others. */
  isolate(index: number): void
  /** Leaves this machine and one other connected to each other; the other machines reach each other. */
  splitOff(index: number): void
  /** Lets all machines reach each other again. */
  restore(): void
  close(): void
}

/** Undefined if this process has no right to make one. */
export function openNetwork(count: number): Network | undefined {
  const name = `wb${process.pid % 100_000}`
  const net = `10.${200 + (process.pid % 50)}.${Math.floor(process.pid / 50) % 250}`
  const spaces = Array.from({ length: count }, (_, index) => `${name}n${index}`)
  const close = () => {
    for (const space of spaces) attempt('netns', 'del', space)
    for (const side of SIDES) attempt('link', 'del', `${name}${side}`)
  }
  if (!attempt('link', 'add', `${name}a`, 'type', 'bridge')) return undefined
  process.on('exit', close)
  ip('link', 'add', `${name}b`, 'type', 'bridge')
  ip('addr', 'add', `${net}.1/24`, 'dev', `${name}a`)
  for (const side of SIDES) ip('link', 'set', `${name}${side}`, 'up')
  const machines = spaces.map((space, index): Machine => {
    const host = `${net}.${11 + index}`
    ip('netns', 'add', space)
    ip('link', 'add', space, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
    ip('link', 'set', space, 'master', `${name}a`, 'up')
    ip('-n', space, 'addr', 'add', `${host}/24`, 'dev', 'eth0')
    for (const device of ['eth0', 'lo']) ip('-n', space, 'link', 'set', device, 'up')
    return { host, port: 6379, sentinelPort: 26_379, within: ['ip', 'netns', 'exec', space] }
  })
  return {
    machines,
    isolate: (index) => ip('link', 'set', spaces[index], 'down'),
    splitOff(index) {
      for (const space of spaces) if (space !== spaces[index]) ip('link', 'set', space, 'master', `${name}b`)
    },
    restore() {
      for (const space of spaces) ip('link', 'set', space, 'master', `${name}a`, 'up')
    },
    close() {
      process.off('exit', close)
      close()
    },
  }
}

function attempt(...words: string[]): boolean {
  try {
    ip(...words)
    return true
  } catch {
    return false
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'ignore' })
}

const SIDES = ['a', 'b'] as const
