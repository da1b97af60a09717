import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { rendered } from './chart.ts'
import { COMPANY, devicesOf, drive, goesOn, SOON, SPEECHES } from './drive.ts'
import { json, podman } from './engine.ts'
import { BIN, CACHE } from './place.mjs'
import { containerName, Pods, SUBNET } from './pods.ts'
import { endAll, prepareSite } from './site.ts'

/* The pods that the chart describes, in containers: three gateways behind HAProxy, three Redis servers with Sentinels. */

const SECRET = { 'admin-token': 'deploy-admin-token-0123456789abcdef', 'redis-password': 'deploy-redis-password' }

const OVER_ALL = `${SPEECHES},teltonika-udp`
const LISTENERS = [
  { transport: 'tcp', port: 5023, protocol: 'gt06' },
  { transport: 'tcp', port: 5027, protocol: 'teltonika' },
  { transport: 'udp', port: 5027, protocol: 'teltonika' },
  { transport: 'http', port: 5055, protocol: 'osmand' },
]
let pods: Pods

beforeEach(({ skip }) => skip(!existsSync(join(BIN, 'helm')), 'there is no helm, and no Go that builds it'))
beforeAll(prepareSite)
afterAll(endAll)

it('the pods of the chart become ready, as the test of the release says', async () => {
  pods = new Pods(await objects(), SECRET)
  await pods.start(['tracking-tcp', 'tracking-udp', 'tracking-tracking'])
  await expect.poll(() => pods.test('tracking-test').catch(String), SOON).toContain('"ok":true')
})

it('vans behind HAProxy of the chart reach another gateway after a crash, and continue when the primary crashes', async () => {
  const load = drive(OVER_ALL)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  await crash('tracking-gateway-0', 'gateway')
  await goesOn(load)
  for (const pod of [1, 2]) expect(await connections(`tracking-gateway-${pod}`)).toBeGreaterThan(0)
  await crash(await primary(), 'redis')
  await goesOn(load)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('a pod of the chart that lost its volume becomes a replica again, and nothing acknowledged is lost', async () => {
  const load = drive(OVER_ALL)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const lost = await primary()
  await pods.lose(lost, 'data')
  await goesOn(load)
  expect(await primary()).not.toBe(lost)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

function objects() {
  const values = join(CACHE, 'pods.json')
  const settings = {
    image: { repository: 'localhost/waybridge', tag: 'latest' },
    podNetwork: SUBNET,
    config: { gateway: `${COMPANY}\n`, devices: devicesOf(OVER_ALL) },
    listeners: LISTENERS,
    gateway: { replicas: 3 },
    worker: { replicas: 1 },
    haproxy: { replicas: 1 },
    prometheus: { enabled: false },
    grafana: { enabled: false },
  }
  writeFileSync(values, JSON.stringify(settings))
  return rendered('--values', values)
}

/** Kills the process of a container, which then restarts. */
async function crash(pod: string, container: string): Promise<void> {
  const [{ State }] = await json<{ State: { Pid: number } }[]>('inspect', containerName(pod, container))
  process.kill(State.Pid, 'SIGKILL')
}

/** Returns the pod of the primary that the Sentinel of a pod names. */
async function primary(): Promise<string> {
  const say = ['redis-cli', '-p', '26379', 'sentinel', 'get-master-addr-by-name', 'waybridge']
  const [address] = (await podman('exec', containerName('tracking-redis-2', 'sentinel'), ...say)).split('\n')
  for (const pod of [0, 1, 2].map((index) => `tracking-redis-${index}`))
    if ((await podman('exec', containerName(pod, 'redis'), 'hostname', '-I').catch(() => '')).trim() === address)
      return pod
  throw new Error(`no pod has the address ${address}`)
}

/** Returns the number of device connections of a gateway. */
async function connections(pod: string): Promise<number> {
  const ask = "console.log(await (await fetch('http://127.0.0.1:9464/metrics')).text())"
  const metrics = await podman('exec', containerName(pod, 'gateway'), 'node', '--input-type=module', '-e', ask)
  const values = metrics.matchAll(/^waybridge_connections\{[^}]*\} (\d+)/gm)
  return Array.from(values, ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0)
}
