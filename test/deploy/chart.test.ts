import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { findProgram } from '../support/debian-program.mjs'
import { CHART, type KubernetesObject, named, objectsIn, rendered, service } from './chart.ts'
import { documentedCommands } from './documented.ts'
import { run } from './engine.ts'
import { BIN, CACHE, ROOT } from './place.mjs'

/* The chart with several values: each object read strictly as the type of Kubernetes that it is, each file by the program that reads it. */

const VALUES = join(ROOT, 'test/deploy/values')
const SHAPES = ['defaults', ...readdirSync(VALUES)] as const
const VERSIONS = ['1.30', '1.37']
/** Types of operators, for which Kubernetes has no schema. */
const OF_OPERATORS = /^(monitoring\.coreos\.com|keda\.sh)\//
/** Environment of the pods. */
const VARIABLES = ['ADMIN_TOKEN', 'REDIS_PASSWORD'].map((name) => `${name}=0123456789abcdef0123456789abcdef`)

beforeEach(({ skip }) => skip(!existsSync(join(BIN, 'helm')), 'there is no helm, and no Go that builds it'))

it('helm finds no error in the chart', async () => {
  expect(await run('helm', 'lint', '--strict', CHART)).toContain('0 chart(s) failed')
})

it.each(SHAPES)('the chart with %s makes valid objects', async (name) => {
  await validate(await shape(name))
})

it.each(SHAPES)('waybridge and HAProxy accept the files that the chart with %s makes', async (name) => {
  const objects = await shape(name)
  const folder = join(CACHE, 'chart-files')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const write = (of: string) => {
    const { data = {} } = named(objects, 'ConfigMap', of) ?? {}
    for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), text)
    return Object.keys(data).length > 0
  }
  if (write('config')) {
    for (const file of ['cert.pem', 'key.pem']) writeFileSync(join(folder, file), '')
    const variables = [...VARIABLES, 'TRACKING_URL=http://tracking:8090', 'REDIS_URL=redis://redis']
    const args = [process.execPath, join(ROOT, 'src/cli/index.ts'), 'check', '--config', folder]
    const said = await run('env', ...variables, ...args).catch(String)
    // Files that other objects contain.
    const faults = said.split('\n').filter((line) => /^\S+:\d+/.test(line) && !/(cert|key)\.pem|run\/fleet/.test(line))
    expect(faults).toEqual([])
  }
  const haproxy = await findProgram('haproxy')
  if (haproxy && write('haproxy')) {
    const variables = Object.entries({ ...haproxy.env, BIND: '' }).map((pair) => pair.join('='))
    await run('env', ...variables, haproxy.command, '-c', '-f', join(folder, 'haproxy.cfg'))
  }
})

it('HAProxy resolves each gateway by its full name, and the balancer has the ports of the listeners', async () => {
  const objects = await shape('own-api.yaml')
  const { 'haproxy.cfg': config } = named(objects, 'ConfigMap', 'haproxy')!.data!
  expect(config).toContain('server-template gateway- 4 tracking-gateway.default.svc.k8s.example.com:5027\n')
  expect(portsOf(objects, 'tcp')).toEqual([5000, 5013, 5023, 5027, 5055, 1883])
  expect(portsOf(objects, 'udp')).toEqual([5000])
  const udp = service(objects, 'udp')
  expect(udp.selector['app.kubernetes.io/component']).toBe('gateway')
  expect(udp.externalTrafficPolicy).toBe('Local')
})

it('the ports of the chart come from a custom gateway.yaml, whose text stays unchanged', async () => {
  const objects = await shape('operators.yaml')
  expect(portsOf(objects, 'tcp')).toEqual([5023, 8093, 1884, 8884])
  expect(portsOf(objects, 'udp')).toEqual([5005])
  const { 'gateway.yaml': text } = named(objects, 'ConfigMap', 'config')!.data!
  expect(text).toContain('company_id: 9007199254740993,')
  expect(text.match(/^listeners:/gm)).toHaveLength(1)
})

it('without HAProxy the balancer reaches the gateways, and only it may send PROXY headers', async () => {
  const objects = await shape('direct.yaml')
  expect(service(objects, 'tcp').selector['app.kubernetes.io/component']).toBe('gateway')
  const { ingress } = named(objects, 'NetworkPolicy', 'gateway')!.spec as { ingress: { from: unknown }[] }
  expect(ingress[0].from).toEqual(['10.1.0.0/16', '10.2.0.0/16'].map((cidr) => ({ ipBlock: { cidr } })))
})

it.each([
  ['an unknown value', ['gatway.replicas=3'], "additional properties 'gatway' not allowed"],
  [
    'a listener of your own that misses the PROXY header',
    ['config.gateway=listeners: [{ transport: tcp\\, port: 5027\\, protocol: teltonika }]'],
    'the listener on port 5027 needs proxy_protocol: true',
  ],
  ['a section that no other pod would reach', ['config.gateway=admin: { port: 8080 }'], 'admin.host is missing'],
  ['PROXY headers from anybody', ['service.proxyProtocol=true'], 'service.proxyNetworks is missing'],
  ['a gateway.yaml that is none', ['config.gateway=companies: ['], 'config.gateway: '],
])('the chart refuses %s', async (_, settings, reason) => {
  const options = settings.flatMap((setting) => ['--set', setting])
  await expect(run('helm', 'template', 'tracking', CHART, ...options)).rejects.toThrow(reason)
})

it('the documented command makes valid objects with the files of a custom configuration', async () => {
  const folder = join(CACHE, 'chart')
  mkdirSync(join(folder, 'my'), { recursive: true })
  for (const file of ['gateway.yaml', 'devices.yaml', 'routes.csv'])
    writeFileSync(join(folder, 'my', file), `# own ${file}\n`)
  const install = documentedCommands('## With Kubernetes').find((command) => command.startsWith('helm install'))!
  const template = install.replace('helm install', 'helm template').replace('docker/helm/waybridge', CHART)
  const text = await run('sh', '-c', `cd '${folder}' && ${template}`)
  expect(text).toContain('# own routes.csv')
  await validate(objectsIn(text))
})

function shape(name: (typeof SHAPES)[number]): Promise<KubernetesObject[]> {
  return rendered(...(name === 'defaults' ? [] : ['--values', join(VALUES, name)]))
}

async function validate(objects: readonly KubernetesObject[]): Promise<void> {
  expect(objects.some(({ kind }) => kind === 'StatefulSet')).toBe(true)
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  expect(names).toEqual([...new Set(names)])
  const file = join(CACHE, 'objects.yaml')
  const own = objects.filter(({ apiVersion }) => !OF_OPERATORS.test(apiVersion))
  writeFileSync(file, own.map((object) => JSON.stringify(object)).join('\n---\n'))
  for (const version of VERSIONS) await run('kubernetes-validate', '--strict', '-k', version, file)
}

function portsOf(objects: readonly KubernetesObject[], name: string): number[] {
  return service(objects, name).ports.map(({ port }) => port)
}
