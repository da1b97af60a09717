import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { keys, readFrames, type Store, timestampOf } from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import { dial, until } from '../support/listen.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const VAN = { company_id: 7, courier_id: 42, route_id: 1001 }
const NOW_S = Math.floor(Date.now() / 1000)
/** Records of a Wialon IPS black box: a readable one, and one with an invalid hemisphere. */
const GOOD = `${dateOf(NOW_S)};5230.0000;N;01324.0000;E;0;0;30;9`
const BAD = `${dateOf(NOW_S)};5230.0000;Q;01324.0000;E;0;0;30;9`

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

/** DDMMYY;hhmmss of unix seconds. */
function dateOf(seconds: number): string {
  const [date, time] = new Date(seconds * 1000).toISOString().split('T')
  return `${date.slice(2).split('-').toReversed().join('')};${time.slice(0, 8).replaceAll(':', '')}`
}

/** Starts a whole gateway with its own configuration folder. */
async function gateway() {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-misunderstood-'))
  const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: key }]
listeners: [{ transport: tcp, port: 0, protocol: wialon, host: 127.0.0.1 }]
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
log: { level: fatal }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.yaml'), JSON.stringify({ van: VAN }))
  const start = async () => {
    const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
    return startGateway(live, { redisServer: server.url, ports: {} })
  }
  const role = { current: await start() }
  onTestFinished(async () => {
    await role.current.close()
    await rm(dir, { recursive: true })
  })
  return { ports: role.current.ports ?? {} }
}

const kept = async () =>
  (await readFrames(redis, { count: 100 })).map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
const timesInLane = async () =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1001'), 0, -1))).map(timestampOf)

it('a frame with an unreadable record is answered when it is on disk, and survives a kill of Redis', async () => {
  const { ports } = await gateway()
  const van = await dial(ports['tcp/wialon'])
  van.say('#L#van;NA\r\n')
  await until(() => expect(van.heard).toBe('#AL#1\r\n'))
  await server.kill('SIGSTOP')
  van.say(`#B#${GOOD}|${BAD}\r\n`)
  const since = performance.now()
  await until(() => expect(performance.now() - since).toBeGreaterThan(500))
  expect(van.heard).toBe('#AL#1\r\n')
  await server.kill('SIGCONT')
  await until(() => expect(van.heard).toBe('#AL#1\r\n#AB#1\r\n'))
  await server.kill('SIGKILL')
  await server.restart()
  await until(async () => expect(await timesInLane()).toEqual([NOW_S]))
  expect(await kept()).toMatchObject([{ device: 'van', company: '7', reason: 'entries', unreadable: [1] }])
})
