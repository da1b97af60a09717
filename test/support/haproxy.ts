import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Program } from './debian-program.mjs'
import { endChild } from './processes.ts'
import { temporaryDir } from './running.ts'

/** Runs HAProxy in front of ports of this machine until the test is over. Each line of `ways`: its port, and `server` options. */
export async function startHaproxy(
  { command, env }: Program,
  ways: readonly { readonly port: number; readonly to: number; readonly options: string }[],
): Promise<void> {
  const dir = await temporaryDir()
  const file = join(dir, 'haproxy.cfg')
  const proxies = ways.map(
    ({ port, to, options }) =>
      `listen p${port}\n  bind 127.0.0.1:${port}\n  server gateway 127.0.0.1:${to} ${options}\n`,
  )
  const head =
    'global\n  maxconn 100\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n'
  await writeFile(file, head + proxies.join(''))
  const child = spawn(command, ['-db', '-f', file], { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(async () => void (await endChild(child, 'SIGKILL')))
}
