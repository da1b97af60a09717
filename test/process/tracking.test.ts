import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { folder } from '../support/config-folder.ts'
import { listening } from '../support/listening.ts'

const CLI = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const NOW = Math.floor(Date.now() / 1000)
const MAX_ID = '9223372036854775807'
const soon = { timeout: 30_000, interval: 20 }

const SETTINGS = `listen: { port: 0 }
data_dir: "\${env:DATA_DIR}"
monitor: { port: 0 }
log: { format: json }
`
const COMPANIES = 'companies: [{ company_id: 7, apikeys: [canary-key], oauth_tokens: [canary-token] }]\n'
const route = (id: string, courier = '42') => `  - { route_id: ${id}, courier_id: ${courier}, company_id: 7 }\n`
const ONE_ROUTE = `${SETTINGS}${COMPANIES}routes:\n${route('1001')}`
const GATEWAY = `data_dir: "\${env:DATA_DIR}"
tracking: { listen: { port: 0 } }
monitor: { port: 0 }
log: { format: json }
companies: [{ company_id: 7, apikey: canary-key, oauth_token: canary-token }]
`
const DEVICE = '1: { company_id: 7, courier_id: 42, route_id: 1001 }\n'

/**
 * `waybridge tracking` on a folder with these files, as a user would run it, until the test ends; the data folder is data/ in
 * it.
 */
async function run(files: Record<string, string>) {
  const dir = await folder(files)
  return { dir, ...start(dir) }
}

function start(dir: string, dataDir = join(dir, 'data')) {
  const program = spawned(dir, dataDir)
  onTestFinished(program.kill)
  return program
}

function spawned(dir: string, dataDir: string) {
  const env = { ...process.env, DATA_DIR: dataDir }
  const child = spawn(process.execPath, [CLI, 'tracking', '--config', dir], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { child, ended, kill, said: () => said }
}

/** Starts a service for all tests of a `describe`; its folder is removed afterwards. */
function shared(files: Record<string, string>) {
  let service: Awaited<ReturnType<typeof ready>>
  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-tracking-'))
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
    const program = spawned(dir, join(dir, 'data'))
    service = { dir, ...program, ...(await talkTo(program)) }
  })
  afterAll(async () => {
    await service.kill()
    await rm(service.dir, { recursive: true })
  })
  return () => service
}

/** Runs the service like `run`; resolves to functions that use it when it is ready. */
async function ready(files: Record<string, string>) {
  const program = await run(files)
  return { ...program, ...(await talkTo(program)) }
}

async function talkTo({ child, said }: Pick<ReturnType<typeof spawned>, 'child' | 'said'>) {
  await vi.waitUntil(() => said().includes('"msg":"ready"') || child.exitCode !== null, soon)
  const { ports } = linesOf(said()).find(({ msg }) => msg === 'ready') as { ports: Record<string, number> }
  const url = `http://127.0.0.1:${ports.tracking}`
  return {
    url,
    monitor: `http://127.0.0.1:${ports.monitor}`,
    push: (at: number, id = '1001', courier = '42') => pushTo(url, { at, id, courier }),
    positions: (id = '1001') => positionsAt(url, id),
  }
}

async function pushTo(url: string, { at, id, courier }: { at: number; id: string; courier: string }): Promise<number> {
  const body = JSON.stringify({ positions: [{ accuracy: 5, point: { lat: 52.5, lon: 13.4 }, timestamp: at }] })
  const path = `${url}/api/v1/couriers/${courier}/routes/${id}/push-positions-v3?apikey=canary-key`
  return (await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status
}

async function positionsAt(url: string, id: string, token = 'canary-token'): Promise<unknown> {
  const path = `${url}/api/v2/companies/7/routes/${id}/courier-positions?from=${NOW - 600}&to=${NOW}`
  const answer = await fetch(path, { headers: { authorization: `OAuth ${token}` } })
  if (answer.status !== 200) return answer.status
  return ((await answer.json()) as { timestamp: number }[]).map(({ timestamp }) => timestamp)
}

function linesOf(said: string): Record<string, unknown>[] {
  return said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Returns metrics that are at most a second old. */
async function metricsOf(monitor: string): Promise<string> {
  return (await fetch(`${monitor}/metrics`)).text()
}

function messagesOf(said: string): unknown[] {
  return linesOf(said).map(({ msg }) => msg)
}

/** Locks the database of the service; returns a function that releases it. */
function locked(file: string): () => void {
  const other = new DatabaseSync(file)
  onTestFinished(() => void (other.isOpen && other.close()))
  other.exec('BEGIN IMMEDIATE')
  return () => other.close()
}

/** Replaces tracking.yaml by rename, as editors do. */
async function write(dir: string, text: string): Promise<void> {
  await writeFile(join(dir, 'new'), text)
  await rename(join(dir, 'new'), join(dir, 'tracking.yaml'))
}

describe('waybridge tracking with tracking.yaml', () => {
  const service = shared({
    'tracking.yaml': `${ONE_ROUTE}${route(MAX_ID, MAX_ID)}`,
    'gateway.yaml': 'companies: [{ company_id: 7, apikey: canary-key }]\nworkers: 0\n',
    'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1002 }\n',
  })

  it('waybridge tracking accepts ids up to the largest int64, and no id that is missing in the file', async () => {
    const { push, positions } = service()
    expect(await push(NOW, MAX_ID, MAX_ID)).toBe(200)
    expect(await push(NOW, '9223372036854775806', MAX_ID)).toBe(404)
    expect(await positions(MAX_ID)).toEqual([NOW])
  })

  it('waybridge tracking ignores the files of a gateway in the same folder', async () => {
    const { push } = service()
    expect([await push(NOW - 1, '1001'), await push(NOW - 1, '1002')]).toEqual([200, 404])
  })

  it('waybridge tracking serves health, readiness and metrics', async () => {
    const { monitor } = service()
    const answers = await Promise.all(['healthz', 'readyz', 'metrics'].map((path) => fetch(`${monitor}/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await answers[2].text()).toContain('\nwaybridge_config_last_reload_successful 1\n')
  })

  it('waybridge tracking stores and returns pushed positions, and exits with 0 after SIGTERM', async () => {
    const { push, positions, child, ended, said } = service()
    expect(await push(NOW)).toBe(200)
    expect(await positions()).toEqual([NOW - 1, NOW])
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(messagesOf(said())).toEqual(['ready', 'closing'])
    expect(said()).not.toContain('canary')
  })

  it('waybridge tracking answers 504 if a request takes longer than time_limit', async () => {
    const { url } = await ready({ 'tracking.yaml': `${ONE_ROUTE}time_limit: 1ms\n` })
    const many = Array.from({ length: 1000 }, (_, at) => {
      return { accuracy: 5, point: { lat: 52.5, lon: 13.4 }, timestamp: NOW - 600 + (at % 600) }
    })
    for (let batch = 0; batch < 10; batch++) {
      const body = JSON.stringify({ positions: many.map((one) => ({ ...one, point: { lat: batch, lon: 13.4 } })) })
      const path = `${url}/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=canary-key`
      const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect(answer.status).toBe(200)
    }
    expect(await positionsAt(url, '1001')).toBe(504)
  })
})

describe('a change of tracking.yaml', () => {
  it('a change of tracking.yaml adds a route, answers 404 for a removed one, and keeps the stored data', async () => {
    const { dir, push, positions, said } = await ready({ 'tracking.yaml': ONE_ROUTE })
    expect([await push(NOW - 9), await push(NOW - 9, '1002')]).toEqual([200, 404])
    await write(dir, SETTINGS + COMPANIES + `routes:\n${route('1002')}`)
    await expect.poll(() => push(NOW - 8, '1002'), soon).toBe(200)
    expect(await push(NOW - 8, '1001')).toBe(404)
    expect([await positions('1001'), await positions('1002')]).toEqual([[NOW - 9], [NOW - 8]])
    expect(messagesOf(said())).toEqual(['ready', 'configuration reloaded'])
  })

  it('a change of tracking.yaml makes a removed token answer 401, and a removed apikey 403', async () => {
    const { dir, url, push } = await ready({ 'tracking.yaml': ONE_ROUTE })
    expect(await push(NOW)).toBe(200)
    await write(dir, ONE_ROUTE.replaceAll('canary-', 'other-canary-'))
    await expect.poll(() => push(NOW), soon).toBe(403)
    expect(await positionsAt(url, '1001')).toBe(401)
    expect(await positionsAt(url, '1001', 'other-canary-token')).toEqual([NOW])
  })

  it('a route removed from tracking.yaml stays removed after a restart', async () => {
    const { dir, push, child, ended } = await ready({ 'tracking.yaml': ONE_ROUTE })
    expect(await push(NOW)).toBe(200)
    child.kill('SIGTERM')
    await ended
    await write(dir, SETTINGS + COMPANIES + `routes:\n${route('1002')}`)
    const again = await talkTo(start(dir))
    expect([await again.push(NOW), await again.push(NOW, '1002')]).toEqual([404, 200])
    expect(await again.positions()).toEqual([NOW])
  })

  it('a mistake in tracking.yaml is reported once and not in effect, and the next correct file is', async () => {
    const { dir, push, said, monitor } = await ready({ 'tracking.yaml': ONE_ROUTE })
    await write(dir, `${ONE_ROUTE}${route('1002').replace('courier_id', 'curier_id')}`)
    await expect.poll(said, soon).toContain('is ignored')
    const file = join(dir, 'tracking.yaml')
    expect(messagesOf(said())).toEqual([
      'ready',
      `${file}:8:5 routes[1].courier_id: missing`,
      `${file}:8:23 routes[1].curier_id: unknown key: did you mean courier_id?`,
      `${file} is ignored: the previous configuration stays in effect`,
    ])
    expect(await push(NOW)).toBe(200)
    await expect.poll(() => metricsOf(monitor), soon).toContain('\nwaybridge_config_last_reload_successful 0\n')
    await write(dir, `${ONE_ROUTE}${route('1002')}`)
    await expect.poll(() => push(NOW, '1002'), soon).toBe(200)
    await expect.poll(() => metricsOf(monitor), soon).toContain('\nwaybridge_config_last_reload_successful 1\n')
  })

  it('a change of tracking.yaml is in effect for companies at once, and for routes when the database is writable', async () => {
    const { dir, url, push, said, monitor } = await ready({ 'tracking.yaml': ONE_ROUTE })
    const file = join(dir, 'data', 'tracking.sqlite')
    const release = locked(file)
    await write(dir, `${ONE_ROUTE}${route('1002')}`.replace('canary-token', 'other-canary-token'))
    await expect.poll(said, soon).toContain('the routes are not in effect')
    expect(await positionsAt(url, '1001')).toBe(401)
    expect(await push(NOW, '1002')).toBe(404)
    await expect.poll(() => metricsOf(monitor), soon).toContain('\nwaybridge_config_last_reload_successful 0\n')
    release()
    await expect.poll(() => push(NOW, '1002'), soon).toBe(200)
    const locking = `${file}: database is locked; end the program that uses it`
    await expect
      .poll(() => messagesOf(said()), soon)
      .toEqual(['ready', `the routes are not in effect, the companies are: ${locking}`, 'the routes are in effect'])
    await expect.poll(() => metricsOf(monitor), soon).toContain('\nwaybridge_config_last_reload_successful 1\n')
  })

  it('a change of tracking.yaml reports settings that need a restart, and its removal changes nothing', async () => {
    const { dir, push, said } = await ready({ 'tracking.yaml': ONE_ROUTE })
    const other = ONE_ROUTE.replace('${env:DATA_DIR}', '/elsewhere').replace('{ port: 0 }', '{ port: 8090 }')
    await write(dir, `${other}time_limit: 5s\n`)
    await expect.poll(said, soon).toContain('configuration reloaded')
    expect(messagesOf(said())).toContain('listen, data_dir, time_limit: takes effect at the next start')
    await rm(join(dir, 'tracking.yaml'))
    await expect.poll(said, soon).toContain('this file does not exist any more: its last content stays in effect')
    expect(await push(NOW)).toBe(200)
  })
})

it('waybridge tracking ends with exit code 78 and a line for each mistake of tracking.yaml', async () => {
  const text = 'listen: { port: 70000 }\ntime_limit: soon\ncompanies: [{ company_id: 7, api_key: canary }]\n'
  const { dir, ended, said } = await run({ 'tracking.yaml': text })
  expect(await ended).toBe(78)
  const file = join(dir, 'tracking.yaml')
  expect(said().trimEnd().split('\n')).toEqual([
    `${file}:1:17 listen.port: expected a port from 0 to 65535`,
    `${file}:2:13 time_limit: expected a duration such as 500ms, 60s or 5m, above 0 and at most 24h`,
    `${file}:3:30 companies[0].api_key: unknown key: did you mean apikeys?`,
  ])
})

it('waybridge tracking ends with exit code 1 and a sentence if its port is in use', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  const port = await listening(other)
  const { ended, said } = await run({ 'tracking.yaml': ONE_ROUTE.replace('port: 0', `port: ${port}`) })
  expect(await ended).toBe(1)
  expect(said()).toBe(
    `Cannot listen on 127.0.0.1:${port}: another program has this port; end it or choose another port.\n`,
  )
})

it('waybridge tracking ends with exit code 1 and a sentence if its host is unknown', async () => {
  const { ended, said } = await run({ 'tracking.yaml': ONE_ROUTE.replace('port: 0', 'port: 0, host: none.invalid') })
  expect(await ended).toBe(1)
  expect(said()).toBe('Cannot listen on none.invalid: its address cannot be found.\n')
})

it('waybridge tracking ends with exit code 1 and a sentence if its file is no database', async () => {
  const { dir, ended, said } = await run({ 'tracking.yaml': ONE_ROUTE, 'data/tracking.sqlite': 'x'.repeat(5000) })
  const file = join(dir, 'data', 'tracking.sqlite')
  expect([await ended, said()]).toEqual([
    1,
    `Cannot open ${file}: file is not a database; restore it, or move it away to start with an empty one.\n`,
  ])
})

it('waybridge tracking ends with exit code 1 and a sentence if another program locks its database', async () => {
  const { dir, child, ended: first } = await ready({ 'tracking.yaml': ONE_ROUTE })
  child.kill('SIGTERM')
  await first
  const file = join(dir, 'data', 'tracking.sqlite')
  locked(file)
  const { ended, said } = start(dir)
  expect([await ended, said()]).toEqual([1, `Cannot open ${file}: database is locked; end the program that uses it.\n`])
})

it('waybridge tracking ends with exit code 1 and a sentence if its data folder is a file', async () => {
  const { dir, ended, said } = await run({ 'tracking.yaml': ONE_ROUTE, data: '' })
  expect(await ended).toBe(1)
  expect(said()).toBe(`Cannot use ${join(dir, 'data')}: it is a file; choose another data_dir.\n`)
})

describe('a second waybridge tracking', () => {
  const OTHER_ROUTE = `${SETTINGS}${COMPANIES}routes:\n${route('1002')}`
  const first = shared({ 'tracking.yaml': ONE_ROUTE })

  it.each([
    ['with tracking.yaml', { 'tracking.yaml': OTHER_ROUTE }],
    ['without', { 'gateway.yaml': GATEWAY, 'devices.yaml': DEVICE }],
  ])(
    'a second waybridge tracking on the same data folder, %s, exits with 1 and does not disturb the first',
    async (_, files) => {
      const { dir, push, said } = first()
      const dataDir = join(dir, 'data')
      const second = start(await folder(files), dataDir)
      expect(await second.ended).toBe(1)
      expect(second.said()).toBe(
        `Another tracking service is running on ${dataDir}: end it, or choose another data_dir.\n`,
      )
      expect([await push(NOW), await push(NOW, '1002')]).toEqual([200, 404])
      expect(messagesOf(said())).toEqual(['ready'])
    },
  )

  it('a second waybridge tracking starts after the first was killed', async () => {
    const { dir, kill, push } = first()
    expect(await push(NOW)).toBe(200)
    await kill()
    const again = await talkTo(start(dir))
    expect(await again.positions()).toEqual([NOW])
  })
})

describe('waybridge tracking without tracking.yaml', () => {
  it('waybridge tracking without tracking.yaml reads companies and routes from the files of the gateway', async () => {
    const { push, positions } = await ready({ 'gateway.yaml': GATEWAY, 'devices.yaml': DEVICE })
    expect([await push(NOW), await push(NOW, '1002')]).toEqual([200, 404])
    expect(await positions()).toEqual([NOW])
  })
})
