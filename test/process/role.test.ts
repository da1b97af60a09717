import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startMonitor } from '../../src/process/monitor.ts'
import { SUPERVISED } from '../../src/process/role-process.ts'
import { listening } from '../support/listening.ts'
import { fixture, journalOf, type Program, run, temporaryDir, writeBehaviour } from '../support/running.ts'

const ROLE = fixture('role.ts')
const AT = { host: '127.0.0.1', port: 0, metricsToken: () => null }

it('a role closes and exits with 0 after a signal', async () => {
  const { dir, child, ended } = await runningRole()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(journalOf(dir)).toEqual(['gateway ready redis=none tracking=false', 'gateway closed redis=none'])
})

it('a role exits with 130 after a second SIGINT', async () => {
  const { child, ended, said } = await runningRole('hang')
  child.kill('SIGINT')
  await expect.poll(said).toContain('closing')
  // Within half a second it would count as the first signal.
  await pause(700)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})

it('a role exits with 0 if its supervisor dies while it starts', async () => {
  const dir = await temporaryDir()
  await writeBehaviour(dir, { gateway: 'orphan' })
  const child = fork(ROLE, ['gateway', dir], { silent: true })
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(journalOf(dir)).toEqual([])
})

it('a role exits with 0 after a signal before it starts', async () => {
  const dir = await temporaryDir()
  await writeBehaviour(dir, {})
  const child = fork(ROLE, ['gateway', dir], { silent: true, env: { ...process.env, [SUPERVISED]: '1' } })
  await expect.poll(() => existsSync(`${dir}/gateway.loaded`), { timeout: 30_000 }).toBe(true)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('a role exits with 1 and only a sentence for a mistake of the user', async () => {
  const { ended, said } = await role('refuse')
  expect(await ended).toBe(1)
  expect(said()).toBe('The gateway does not like this configuration.\n')
})

it('a role exits with 2 and a fatal log line for a fault at its start', async () => {
  const { ended, said } = await role('crash')
  expect(await ended).toBe(2)
  expect(JSON.parse(said())).toMatchObject({ level: 'fatal', role: 'gateway', msg: 'fault' })
})

it('a role exits with 2 and a fatal log line for an unhandled rejection', async () => {
  const { ended, said } = await role('reject')
  expect(await ended).toBe(2)
  const lines = said().trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ level: 'fatal', stack: expect.stringContaining('Error: nobody waits') }),
  )
})

it('a role reports in one sentence that its port is in use', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  const port = await listening(other)
  const { ended, said } = await role(`listen ${port}`)
  expect(await ended).toBe(1)
  expect(said()).toBe(
    `Cannot listen on 127.0.0.1:${port}: another program has this port; end it or choose another port.\n`,
  )
})

it('a role serves health, readiness and metrics when it runs without a supervisor', async () => {
  const { said } = await runningRole()
  const port = /"monitor":(\d+)/.exec(said())?.[1]
  const paths = ['healthz', 'readyz', 'metrics', 'other']
  const answers = await Promise.all(paths.map((path) => fetch(`http://127.0.0.1:${port}/${path}`)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404])
  expect(await answers[2].text()).toContain('\nwaybridge_fixes_received_total{protocol="teltonika"} 1\n')
})

it('a role answers /readyz with 503 and the problems when it is not ready', async () => {
  const problems = ['Redis does not answer']
  const monitor = await startMonitor(AT, () => Promise.resolve({ ok: false, problems }))
  onTestFinished(() => monitor.close())
  const response = await fetch(`http://127.0.0.1:${monitor.port}/readyz`)
  expect([response.status, await response.json()]).toEqual([503, { ok: false, problems }])
})

it('a single role requires the token for /metrics, and collects once for all callers', async () => {
  let collections = 0
  const metrics = async () => `collected ${++collections}\n`
  const monitor = await startMonitor({ ...AT, metricsToken: () => 'canary' }, neverAsked, metrics)
  onTestFinished(() => monitor.close())
  const url = `http://127.0.0.1:${monitor.port}/metrics`
  const ask = (authorization: string) => fetch(url, { headers: { authorization } })
  expect((await Promise.all([fetch(url), ask('Bearer wrong')])).map(({ status }) => status)).toEqual([401, 401])
  expect(collections).toBe(0)
  const began = performance.now()
  const texts = await Promise.all(Array.from({ length: 20 }, async () => (await ask('Bearer canary')).text()))
  expect(collections).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000)
  expect(texts).toContain('collected 1\n')
})

async function runningRole(behaviour?: string): Promise<Program & { dir: string }> {
  const program = await role(behaviour)
  await expect.poll(program.said, { timeout: 30_000 }).toContain('"msg":"ready"')
  return program
}

async function role(behaviour = ''): Promise<Program & { dir: string }> {
  const dir = await temporaryDir()
  await writeBehaviour(dir, { gateway: behaviour })
  return { ...run([ROLE, 'gateway', dir]), dir }
}

function neverAsked(): never {
  throw new Error('the readiness was asked for')
}
