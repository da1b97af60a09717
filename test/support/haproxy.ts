import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Program } from './debian-program.mjs'
import { endChild } from './processes.ts'
import { temporaryDir } from './running.ts'
import { ROOT } from './structure/sources.ts'

/** Runs HAProxy in front of ports of this machine until the test is over. Each line of `ways`: its port, and `server` options. */
export async function startHaproxy(
  program: Program,
  ways: readonly { readonly port: number; readonly to: number; readonly options: string }[],
): Promise<void> {
  const proxies = ways.map(
    ({ port, to, options }) =>
      `listen p${port}\n  bind 127.0.0.1:${port}\n  server gateway 127.0.0.1:${to} ${options}\n`,
  )
  const head =
    'global\n  maxconn 100\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n'
  await run(program, head + proxies.join(''))
}

/**
 * Runs HAProxy on docker/haproxy.cfg until the test is over, each port raised by `shift`. `places`: its variables. `nameserver`: the
 * port of a DNS server on loopback that takes the place of those in /etc/resolv.conf.
 */
export async function startShippedHaproxy(
  { command, env }: Program,
  { shift, places, nameserver }: { shift: number; places: Record<string, string>; nameserver?: number },
): Promise<void> {
  const text = await readFile(join(ROOT, 'docker/haproxy.cfg'), 'utf8')
  const shifted = text.replaceAll(
    /(:|port )(\d{4})\b/g,
    (_, before: string, port) => `${before}${Number(port) + shift}`,
  )
  const named = nameserver ? shifted.replace('parse-resolv-conf', `nameserver own 127.0.0.1:${nameserver}`) : shifted
  await run({ command, env: { ...env, ...places } }, named)
}

async function run({ command, env }: Program, config: string): Promise<void> {
  const file = join(await temporaryDir(), 'haproxy.cfg')
  await writeFile(file, config)
  const child = spawn(command, ['-db', '-f', file], { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(async () => void (await endChild(child, 'SIGKILL')))
}
