import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { lockDataDir } from '../../src/process/data-dir.ts'
import { fixture, run, temporaryDir } from '../support/running.ts'

const logger = pino({ enabled: false })
const HOLDER = fixture('lock.ts')

it('a data folder is locked for one process at a time', async () => {
  const dir = await temporaryDir()
  onTestFinished(await lockDataDir(dir, logger))
  const second = run([HOLDER, 'start', dir])
  expect(await second.ended).toBe(1)
  expect(second.said()).toContain(`UserError: Another start is running on ${dir}: end it, or choose another data_dir.`)
})

it('the lock of a killed process is released', async () => {
  const dir = await temporaryDir()
  const holder = run([HOLDER, 'start', dir])
  await expect.poll(holder.said).toBe('locked\n')
  await expect(lockDataDir(dir, logger)).rejects.toThrow('Another start is running')
  holder.child.kill('SIGKILL')
  await holder.ended
  onTestFinished(await lockDataDir(dir, logger))
})

it('a start waits until the processes of an earlier run have ended', async () => {
  const dir = await temporaryDir()
  const role = run([HOLDER, 'role', dir])
  await expect.poll(role.said).toBe('locked\n')
  let locked = false
  const lock = lockDataDir(dir, logger).finally(() => (locked = true))
  const second = run([HOLDER, 'start', dir])
  expect(await second.ended).toBe(1)
  expect(locked).toBe(false)
  role.child.kill('SIGKILL')
  onTestFinished(await lock)
})
