import { open } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { answering, STATUS, waybridgeProcess } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'

/** A device that is always full. */
async function full(): Promise<number> {
  const file = await open('/dev/full', 'w')
  onTestFinished(() => file.close())
  return file.fd
}

it.each([
  ['protocols', []],
  ['check', []],
  ['decode', ['--protocol', 'fix', '--text', '{}']],
  ['simulate', ['--devices', '--vans', '2']],
])('%s reports a full disk with exit code 1', async (command, args) => {
  const cwd = await folder({ 'config/gateway.yaml': '' })
  expect(await waybridgeProcess([command, ...args], { cwd, stdout: await full() })).toEqual({
    code: 1,
    out: '',
    errors: 'The output cannot be written: the disk is full.\n',
  })
})

it('status reports a full disk with exit code 1', async () => {
  const server = await answering(() => ({ json: STATUS }))
  const { code, errors } = await waybridgeProcess(['status', '--json', ...server.options], { stdout: await full() })
  expect([code, errors]).toEqual([1, 'The output cannot be written: the disk is full.\n'])
})

it.each([
  ['protocols', [], 0],
  ['check', [], 1],
])('%s ends normally when its pipe is closed', async (command, args, code) => {
  const cwd = await folder({ 'config/gateway.yaml': 'x: 1' })
  expect(await waybridgeProcess([command, ...args], { cwd, reads: false })).toEqual({ code, out: '', errors: '' })
})
