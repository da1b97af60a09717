import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { CLI } from '../support/processes.ts'

/** Lines of output, several times what a pipe holds. */
const LINES = 8000

it('the output of a command arrives complete, however slowly it is read', async () => {
  const child = spawn(process.execPath, [CLI, 'decode', '--jsonl'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end('{"id":1,"protocol":"teltonika","input":{"hex":"00"}}\n'.repeat(LINES))
  const ended = once(child, 'close')
  let lines = 0
  for await (const chunk of child.stdout) {
    lines += (chunk as Buffer).toString().split('\n').length - 1
    await pause(50)
  }
  expect([await ended, lines]).toEqual([[0, null], LINES])
})

it('a command whose output is not read ends normally', async () => {
  const child = spawn(process.execPath, [CLI, 'decode', '--jsonl'], { stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  child.stdout.destroy()
  child.stdin.on('error', () => {}).end('{"id":1,"protocol":"teltonika","input":{"hex":"00"}}\n'.repeat(LINES))
  expect([await once(child, 'close'), errors]).toEqual([[0, null], ''])
})

const run = (...words: string[]) => spawnSync(process.execPath, [CLI, ...words], { encoding: 'utf8' })

it('an unknown command is an error that names the similar one, and no command prints the help', () => {
  expect(run('startt')).toMatchObject({ status: 1, stderr: "error: unknown command 'startt'\n(Did you mean start?)\n" })
  expect(run()).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('Run it:') as string })
})
