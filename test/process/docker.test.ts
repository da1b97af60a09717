import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { protocolPorts } from '../../protocols/index.ts'
import { loadConfig } from '../../src/config/files.ts'
import { CODES } from '../../src/diagnose/codes.ts'
import { registry } from '../../src/observe/metrics.ts'
import { operationGauges } from '../../src/observe/operation-gauges.ts'
import { anchorsOf } from '../support/anchors.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { listening } from '../support/listening.ts'
import { temporaryDir } from '../support/running.ts'

const ROOT = join(import.meta.dirname, '../..')
const { services } = parse(readFileSync(join(ROOT, 'docker/compose.yaml'), 'utf8')) as {
  services: { waybridge: Service }
}
const service = services.waybridge

it('the container listens on addresses that other machines can reach', async () => {
  const { admin, tracking, listeners, mqtt } = await shippedConfig(service.environment)
  const hosts = [admin, tracking.listen, mqtt.broker!, ...listeners].map(({ host }) => host)
  expect(new Set(hosts)).toEqual(new Set(['0.0.0.0']))
})

it('outside a container the admin port and the tracking service listen on loopback', async () => {
  const { admin, tracking } = await shippedConfig({})
  expect([admin.host, tracking.listen.host]).toEqual(['127.0.0.1', '127.0.0.1'])
})

it('compose.yaml publishes the listeners, but the admin port only to this machine', async () => {
  const { admin, tracking, listeners, mqtt } = await shippedConfig(service.environment)
  const devices = listeners.map(({ port, transport }) => `${port}:${port}/${transport === 'udp' ? 'udp' : 'tcp'}`)
  const broker = `${mqtt.broker!.port}:${mqtt.broker!.port}/tcp`
  const local = [admin.port, tracking.listen.port].map((port) => `127.0.0.1:${port}:${port}/tcp`)
  expect(service.ports).toEqual(expect.arrayContaining(['5000:5000/tcp', '5000:5000/udp', broker, ...local]))
  expect([...devices, broker, ...local]).toEqual(expect.arrayContaining(service.ports))
})

/** Variables of docker/.env. */
const OF_A_SITE = {
  ...Object.fromEntries([1, 2, 3].map((at) => [`SENTINEL_${at}`, `10.0.0.${at}:26379`])),
  TRACKING_URL: 'http://10.0.0.3:8090',
  PROXY_NETWORK: '10.0.0.3/32',
}

it('the roles of compose.machine.yaml have their own monitors, which their health checks use', async () => {
  const text = readFileSync(join(ROOT, 'docker/compose.machine.yaml'), 'utf8')
  const { services: roles } = parse(text, { merge: true }) as { services: Record<string, Service> }
  const ports = new Set<number>()
  for (const role of ['gateway', 'worker', 'admin', 'tracking']) {
    const { environment, healthcheck } = roles[role]
    const { config } = await loadShipped('docker/several', { ...environment, ...OF_A_SITE })
    expect(healthcheck.test).toEqual(['CMD', 'node', 'docker/health.mjs', `${config.monitor.port}`])
    expect(config.admin.host).toBe(role === 'gateway' || role === 'tracking' ? '0.0.0.0' : '127.0.0.1')
    ports.add(config.monitor.port)
    vi.unstubAllEnvs()
  }
  expect(ports.size).toBe(4)
})

it('neither the image builder nor git gets a file with passwords', () => {
  const [ofDocker, ofGit] = ['.dockerignore', '.gitignore'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8').split('\n'),
  )
  expect(ofDocker).toEqual(expect.arrayContaining(['**/.env', '**/.env.*']))
  expect(ofGit).toEqual(expect.arrayContaining(['.env', '.env.*']))
})

it('the alert rules of docker/prometheus use existing metrics', () => {
  const rules = readFileSync(join(ROOT, 'docker/prometheus/rules.yaml'), 'utf8')
  const own = operationGauges(async () => {})
  const known = new Set(registry.getMetricsAsArray().map(({ name }) => name))
  own.unregister()
  expect(namesIn(rules).length).toBeGreaterThan(10)
  expect(namesIn(rules).filter((name) => !known.has(name))).toEqual([])
  expect((parse(rules) as { groups: { rules: object[] }[] }).groups[1].rules.length).toBeGreaterThan(10)
})

/** Metrics with neither panel nor rule, and the reason. */
const WITHOUT_PANEL = {
  appends_total: 'only its ratio to the fixes says something, in a bench',
  build_info: 'it joins others to the version',
  clock_alarm: 'own_clock is a finding',
  config_last_reload_successful: 'a file that is not in effect is a finding',
  fixes_repaired_total: 'clock_behind and others are findings',
  frames_total: 'fixes have a panel',
  in_flight_bytes: 'a gateway that has too many says so in refused and pauses',
  misunderstood_left_total: 'what is kept has a panel',
  roster_last_write_timestamp_seconds: 'a roster may stay as it is for months',
}

it('every metric has a dashboard panel or a rule, or is listed as without one', () => {
  const metrics = readFileSync(join(ROOT, 'src/admin/metrics.txt'), 'utf8').match(/^waybridge_\w+/gm) ?? []
  const shown = ['docker/grafana/dashboards/waybridge.json', 'docker/prometheus/rules.yaml']
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join()
  const isShown = (metric: string) => new RegExp(`\\b${metric}(?:_bucket|_count|_sum)?\\b`).test(shown)
  const without = metrics.filter((metric) => !isShown(metric)).map((metric) => metric.replace('waybridge_', ''))
  expect(without.toSorted()).toEqual(Object.keys(WITHOUT_PANEL).toSorted())
})

it('every finding with the severity error or warning has one rule', () => {
  const rules = readFileSync(join(ROOT, 'docker/prometheus/rules.yaml'), 'utf8')
  const matchers = Array.from(rules.matchAll(/code(=~|!~)"([^"]*)"/g), ([, sign, text]) => {
    const pattern = new RegExp(`^(?:${text})$`)
    return (code: string) => pattern.test(code) === (sign === '=~')
  })
  expect(matchers).toHaveLength(4)
  const rulesOf = (code: string) => matchers.filter((matches) => matches(code)).length
  expect(Object.keys(CODES).filter((code) => rulesOf(code) !== 1)).toEqual([])
})

it('every alert rule links to an existing paragraph', () => {
  const { groups } = parse(readFileSync(join(ROOT, 'docker/prometheus/rules.yaml'), 'utf8'), { merge: true }) as {
    groups: { rules: { alert: string; labels: object; annotations: { summary: string; paragraph: string } }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.length).toBeGreaterThan(15)
  for (const { alert, labels, annotations } of rules) {
    const [file, anchor] = annotations.paragraph.split('#')
    expect([alert, existsSync(join(ROOT, file))]).toEqual([alert, true])
    expect(labels).toHaveProperty('severity')
    if (anchor.startsWith('{{')) continue
    expect([alert, anchorsOf(join(ROOT, file)).has(anchor)]).toEqual([alert, true])
  }
})

it('the image uses a health check that follows /readyz, and fails before everything has started', async () => {
  const dir = await temporaryDir()
  await mkdir(join(dir, '.data'))
  expect(await health(dir)).toBe(1)
  let status = 200
  const server = createServer((_, response) => response.writeHead(status).end())
  onTestFinished(() => void server.close())
  await writeFile(join(dir, '.data/ports.json'), JSON.stringify({ admin: await listening(server) }))
  expect(await health(dir)).toBe(0)
  status = 503
  expect(await health(dir)).toBe(1)
})

it('the image checks the health of a single role by its monitor', async () => {
  let status = 200
  const server = createServer((_, response) => response.writeHead(status).end())
  onTestFinished(() => void server.close())
  const port = await listening(server)
  const check = async () =>
    (await once(spawn(process.execPath, [join(ROOT, 'docker/health.mjs'), `${port}`]), 'exit'))[0]
  expect(await check()).toBe(0)
  status = 503
  expect(await check()).toBe(1)
})

it('the image uses a health check that also follows an admin port with TLS', async () => {
  const certificates = await CertificateMaker.create()
  onTestFinished(() => certificates.remove())
  const { cert, key } = await certificates.server('admin')
  const dir = await temporaryDir()
  await mkdir(join(dir, '.data'))
  let status = 200
  const server = createSecureServer({ cert, key }, (_, response) => response.writeHead(status).end())
  onTestFinished(() => void server.close())
  await writeFile(join(dir, '.data/ports.json'), JSON.stringify({ admin: await listening(server) }))
  expect(await health(dir)).toBe(0)
  status = 503
  expect(await health(dir)).toBe(1)
})

it('the image lists its contents besides the package, with licences', async ({ skip }) => {
  skip(spawnSync('dpkg-query', ['--version']).status !== 0, 'there is no dpkg')
  const file = join(await temporaryDir(), 'sbom.json')
  await writeFile(file, '{"components":[{"name":"bullmq"}]}')
  spawnSync(process.execPath, [join(ROOT, 'docker/system-materials.mjs'), file, 'libc6', 'tar'])
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as { components: Material[] }
  const named = new Map(components.map((component) => [component.name, component]))
  expect(named.get('node')).toMatchObject({ version: process.versions.node })
  expect(named.get('libc6')?.licenses.length).toBeGreaterThan(0)
  expect(components.slice(1).filter(({ version, licenses }) => !version || licenses.length === 0)).toEqual([])
  expect([...named.keys()]).toEqual(['bullmq', 'node', 'libc6', 'tar'])
})

interface Material {
  readonly name: string
  readonly version: string
  readonly licenses: readonly object[]
}

interface Service {
  readonly environment: Record<string, string>
  readonly healthcheck: { readonly test: string[] }
  readonly ports: string[]
}

async function shippedConfig(environment: Record<string, string>) {
  return (await loadShipped('config', environment)).config
}

function loadShipped(folder: string, environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  return loadConfig(join(ROOT, folder), protocolPorts)
}

/** Runs the command of compose.yaml in a folder; returns its exit code. */
async function health(dir: string): Promise<number> {
  const [kind, node, script, dataDir] = service.healthcheck.test
  expect([kind, node]).toEqual(['CMD', 'node'])
  const [code] = await once(spawn(process.execPath, [join(ROOT, script), join(dir, dataDir)]), 'exit')
  return code as number
}

/** Returns the metric names in a text. */
function namesIn(text: string): string[] {
  const found = text.match(/waybridge_[a-z_]+/g)?.map((name) => name.replace(/_seconds_(?:count|bucket)$/, '_seconds'))
  return [...new Set(found)].toSorted()
}
