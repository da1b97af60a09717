import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { spawnTethered } from '../../src/process/redis.ts'
import { signal } from '../support/processes.ts'
import { fixture, processesOn, run, temporaryDir } from '../support/running.ts'

it('a tether leaves no process when it ends', async () => {
  const dir = await temporaryDir()
  for (let count = 0; count < 20; count++) {
    const tethered = spawnTethered(['tail', '-f', '/dev/null', `${dir}/nothing`], {
      env: process.env,
      log: `${dir}/log`,
    })
    if (count % 2 === 0) await expect.poll(() => processesOn(dir).length).toBe(3)
    await tethered.end(20_000)
    expect(processesOn(dir)).toEqual([])
  }
})

it('a tether ends a program that ignores SIGTERM when its owner is killed, even if the whole tree got SIGTERM', async () => {
  const dir = await temporaryDir()
  const owner = run([fixture('tether.ts'), dir])
  await expect.poll(() => processesOn(dir).filter(({ pid }) => pid !== owner.child.pid).length).toBe(3)
  for (const { pid } of processesOn(dir)) if (pid !== owner.child.pid) signal(pid, 'SIGTERM')
  owner.child.kill('SIGKILL')
  await expect.poll(() => processesOn(dir), { timeout: 30_000 }).toEqual([])
})

it('a tether keeps the last line of a program as the last line of the log', async () => {
  const dir = await temporaryDir()
  for (let count = 0; count < 40; count++) {
    const tethered = spawnTethered(['echo', 'no'], { env: process.env, log: `${dir}/log` })
    await tethered.exited
  }
  expect(readFileSync(`${dir}/log`, 'utf8')).toBe('no\n'.repeat(40))
})
