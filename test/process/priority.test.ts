import { spawn, spawnSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { folder } from '../support/config-folder.ts'
import { CLI, endChild } from '../support/processes.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
withRedis((given) => void (server = given))

it('the admin process lowers its priority', async () => {
  expect(await admin([])).toBe(Math.max(5, getPriority()))
})

it('the admin process starts if no priority can be changed, as in the unit of systemd', async ({ skip }) => {
  const runner = ['python3', '-c', WITHOUT_SETPRIORITY]
  skip(spawnSync(runner[0], [...runner.slice(1), 'true']).status !== 0, 'python3 cannot set a seccomp filter here')
  expect(await admin(runner)).toBe(getPriority())
})

it('the admin process starts under a parent with a lower priority, and does not raise it', async () => {
  // Root may raise a priority unless it lacks the capability.
  const runner = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-sys_nice', 'nice'] : ['nice']
  expect(await admin([...runner, '-n', '6'])).toBe(Math.min(19, getPriority() + 6))
})

/** Runs the admin role with a runner; returns its priority when it is ready. */
async function admin(runner: readonly string[]): Promise<number> {
  const dir = await folder({
    'gateway.yaml': `redis: { url: "${server.url}" }\nadmin: { port: 0 }\nmonitor: { port: 0 }\nlog: { format: json }\n`,
  })
  const [program, ...args] = [...runner, process.execPath, CLI, 'admin', '--config', dir]
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(async () => void (await endChild(child, 'SIGKILL')))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  await expect.poll(() => child.exitCode !== null || said.includes('"msg":"ready"'), { timeout: 60_000 }).toBe(true)
  expect([child.exitCode, said]).toEqual([null, expect.stringContaining('"msg":"ready"')])
  return getPriority(child.pid)
}

/** Runs a command under a filter that answers EPERM to setpriority, as `SystemCallFilter=~@resources` does. */
const WITHOUT_SETPRIORITY = `
import ctypes, os, struct, sys
number = {"x86_64": 141, "aarch64": 140}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): sys.exit(1)
os.execvp(sys.argv[1], sys.argv[1:])
`
