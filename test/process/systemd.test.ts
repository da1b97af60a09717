import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { defaultConfig } from '../../src/config/schema.ts'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import { pidsWith } from '../support/processes.ts'
import { fixture, portsOf, run, temporaryDir, writeBehaviour } from '../support/running.ts'
import { ROOT } from '../support/structure/sources.ts'

const UNIT = join(ROOT, 'docker/systemd/waybridge.service')
const has = (program: string) => spawnSync(program, ['--version']).status === 0

describe('the unit of systemd', () => {
  it('the unit of systemd requests what the code does', () => {
    const unit = readFileSync(UNIT, 'utf8')
    for (const line of [
      'Type=notify',
      'NotifyAccess=all',
      'TimeoutStartSec=3min',
      'WatchdogSec=60',
      'KillMode=mixed',
      'RestartPreventExitStatus=78',
    ])
      expect(unit.split('\n')).toContain(line)
  })

  it('the unit of systemd is exposed to at most 2.0 of 10 according to systemd-analyze', ({ skip }) => {
    skip(!has('systemd-analyze'), 'there is no systemd-analyze')
    const args = ['security', '--offline=true', '--threshold=20', UNIT]
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect([status, /exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]]).toEqual([0, expect.any(String)])
  })
})

it('the sockets of systemd have the ports of a configuration without listeners', () => {
  const unit = readFileSync(join(ROOT, 'docker/systemd/waybridge.socket'), 'utf8')
  const held = Array.from(
    unit.matchAll(/^Listen(Stream|Datagram)=(.+)$/gm),
    ([, kind, address]) => `${kind} ${address}`,
  )
  const { listeners, mqtt } = defaultConfig(protocolPorts)
  const ofBroker = mqtt.broker ? [{ ...mqtt.broker, transport: 'tcp' }] : []
  const usual = [...listeners, ...ofBroker].map(({ transport, host, port }) => {
    return `${transport === 'udp' ? 'Datagram' : 'Stream'} ${host}:${port}`
  })
  expect(held.length).toBeGreaterThan(2)
  expect(usual).toEqual(expect.arrayContaining(held))
})

describe('messages of start to systemd', () => {
  beforeEach(({ skip }) => skip(!has('systemd-notify') || !has('python3'), 'there is no systemd-notify or python3'))

  it('start tells systemd READY when all is ready, WATCHDOG while every process answers, and STOPPING', async () => {
    const dir = await temporaryDir()
    const heard = await listen(join(dir, 'notify'))
    await writeBehaviour(dir, {})
    const env = { NOTIFY_SOCKET: join(dir, 'notify'), WATCHDOG_USEC: '2000000' }
    const program = run([fixture('start.ts'), dir, JSON.stringify({ gateway: 1, worker: 1 })], env)
    const count = (message: string) => heard().filter((line) => line === message).length
    await expect.poll(() => count('READY=1'), SOON).toBe(1)
    expect(Object.keys(await portsOf(dir))).toContain('tcp/gateway')
    await expect.poll(() => count('WATCHDOG=1'), SOON).toBeGreaterThan(1)

    const [worker] = pidsWith(dir, 'worker')
    process.kill(worker, 'SIGSTOP')
    await expect.poll(program.said, SOON).toContain('a process does not answer')
    // Some messages may be in transit; otherwise there is one every half second.
    const inThreeTurns = async () => {
      const before = count('WATCHDOG=1')
      await pause(1500)
      return count('WATCHDOG=1') - before
    }
    await expect.poll(inThreeTurns, SOON).toBe(0)
    process.kill(worker, 'SIGCONT')
    const silent = count('WATCHDOG=1')
    await expect.poll(() => count('WATCHDOG=1'), SOON).toBeGreaterThan(silent + 1)

    expect(count('STOPPING=1')).toBe(0)
    program.child.kill('SIGTERM')
    expect(await program.ended).toBe(0)
    await expect.poll(() => [count('READY=1'), count('STOPPING=1')], SOON).toEqual([1, 1])
  })

  it('start asks systemd for more time while Redis loads its data', async () => {
    const dir = await temporaryDir()
    const heard = await listen(join(dir, 'notify'))
    await writeBehaviour(dir, {})
    await appendOnlyFile(dir, 3000)
    const env = { NOTIFY_SOCKET: join(dir, 'notify'), WAYBRIDGE_REDIS_SERVER: await slowRedis(dir) }
    const program = run([fixture('start.ts'), dir, '{"worker":1}'], env)
    await expect.poll(heard, SOON).toEqual(['EXTEND_TIMEOUT_USEC=180000000', 'READY=1'])
    expect(program.said()).toContain('ready')
  })

  it('start tells systemd nothing before all is ready', async () => {
    const dir = await temporaryDir()
    const heard = await listen(join(dir, 'notify'))
    await writeBehaviour(dir, { worker: 'crash' })
    const program = run([fixture('start.ts'), dir, '{"worker":1}'], { NOTIFY_SOCKET: join(dir, 'notify') })
    await expect.poll(program.said, SOON).toContain('worker does not start')
    expect(heard()).toEqual([])
  })
})

const SOON = { timeout: 30_000 }

/** Makes a Redis that takes a millisecond to load each command. */
async function slowRedis(dir: string): Promise<string> {
  const { command, env } = findRedisServer()!
  const file = join(dir, 'slow-redis-server')
  const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`)
  const script = `#!/bin/sh\n${variables.join('')}exec '${command}' "$@" --key-load-delay 1000\n`
  await writeFile(file, script, { mode: 0o755 })
  return file
}

/** Writes an AOF with this number of commands for the private Redis of a folder. */
async function appendOnlyFile(dir: string, commands: number): Promise<void> {
  await mkdir(join(dir, 'redis'), { recursive: true })
  const text = '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n'.repeat(commands)
  await writeFile(join(dir, 'redis/appendonly.aof'), text)
}

/** Listens on a Unix datagram socket like systemd; returns a function that gives the messages until now. */
async function listen(path: string): Promise<() => string[]> {
  const child = spawn('python3', ['-u', '-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  await expect.poll(() => existsSync(path), SOON).toBe(true)
  return () => said.split('\n').filter((line) => line !== '' && !line.startsWith('STATUS='))
}

/** `recv` closes a received pipe, by which systemd-notify learns that its message was read. */
const LISTENER = `
import socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
while True:
    for line in heard.recv(4096).decode().split("\\n"):
        if line != "BARRIER=1": print(line)
`
