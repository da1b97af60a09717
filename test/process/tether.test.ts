import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { spawnTethered } from '../../src/process/tether.ts'
import { processesOn, temporaryDir } from '../support/running.ts'

const SIGTERM = 1n << 14n

it('a program has ended only when what watched over it has, however slow that is', async () => {
  const dir = await temporaryDir()
  const tethered = spawnTethered(['tail', '-f', '/dev/null', `${dir}/nothing`], { env: process.env, log: `${dir}/log` })
  await expect.poll(() => processesOn(dir).filter(({ command }) => command[0] === 'tail').length).toBe(1)
  const { starter, watcher } = await shellsOn(dir)
  process.kill(watcher, 'SIGSTOP')
  await expect.poll(() => stateOf(watcher)).toBe('T')
  const left = tethered.end(20_000).then(() => processesOn(dir))
  await expect.poll(() => pendingOf(watcher) & SIGTERM).toBe(SIGTERM)
  await expect.poll(() => stateOf(starter)).toBe('S')
  process.kill(watcher, 'SIGCONT')
  expect(await left).toEqual([])
})

it('what a program says at its end is the last word, however soon that is', async () => {
  const dir = await temporaryDir()
  for (let count = 0; count < 40; count++) {
    const tethered = spawnTethered(['echo', 'no'], { env: process.env, log: `${dir}/log` })
    await tethered.exited
  }
  expect(readFileSync(`${dir}/log`, 'utf8')).toBe('no\n'.repeat(40))
})

/** The shell that started the program, and the one that watches over it. */
async function shellsOn(dir: string) {
  const pids = () => processesOn(dir).flatMap(({ pid, command }) => (command[0] === '/bin/sh' ? [pid] : []))
  await expect.poll(() => pids().length).toBe(2)
  const [one, other] = pids()
  return parentOf(other) === one ? { starter: one, watcher: other } : { starter: other, watcher: one }
}

function parentOf(pid: number): number {
  return Number(fieldOf(pid, 'PPid'))
}

/** `S`: it sleeps, `T`: it is stopped; '' where it is gone. */
function stateOf(pid: number): string {
  return fieldOf(pid, 'State').charAt(0)
}

/** Signals that it has not had yet. */
function pendingOf(pid: number): bigint {
  return BigInt(`0x${fieldOf(pid, 'ShdPnd') || '0'}`)
}

function fieldOf(pid: number, name: string): string {
  try {
    return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}
