import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Appender, connect, keys, packDevice, packRecords } from '../../../src/store/index.ts'
import { Inspector } from '../../support/inspector.ts'
import { endChild, messageOf, residentBytes } from '../../support/processes.ts'
import { startTestRedis } from '../../support/redis.ts'
import { startRig } from './rig.ts'

const SENDER = fileURLToPath(new URL('sender.ts', import.meta.url))
const CONNECTIONS = 10_000

/** What the gateway grows by for each of 10,000 connections that have logged in and are silent, garbage collected. */
export async function bytesPerIdleConnection(): Promise<{ readonly heap: number; readonly resident: number }> {
  const rig = await startRig({ vans: CONNECTIONS, concurrency: 64, inspect: true })
  const gateway = await Inspector.open(rig.inspectors[0])
  const pid = rig.processes.get('gateway') as number
  const measure = async () => ({ heap: await gateway.heapBytes(), resident: residentBytes(pid) })
  const silent = { port: rig.port, vans: 0, fixesPerPacket: 1, packetsPerSecond: 0, maxBehind: 0, keepSamples: false }
  try {
    await sleep(2000)
    const before = await measure()
    const sender = fork(SENDER, [JSON.stringify({ ...silent, vans: CONNECTIONS })])
    await messageOf(sender, 'ready')
    await sleep(3000)
    const after = await measure()
    await endChild(sender)
    const each = (kind: 'heap' | 'resident') => Math.round((after[kind] - before[kind]) / CONNECTIONS)
    return { heap: each('heap'), resident: each('resident') }
  } finally {
    gateway.close()
    await rig.stop()
  }
}

/** What Redis' memory grows by for each fix, at 1,000 waiting in each of 100 lanes. */
export async function redisBytesPerWaitingFix(): Promise<number> {
  const server = await startTestRedis()
  const redis = connect(server.url, 'bench')
  await new Promise((resolve) => redis.once('ready', resolve))
  const appender = new Appender(redis, {
    maxWaitMs: 0,
    duplicates: null,
    shares: { markBytes: 0, heldFixes: 0, misunderstoodBytes: 0 },
    hold: { maxFixesPerDevice: 0, maxFixesConfigured: 0, maxUnknownDevices: 0 },
  })
  const store = (lanes: number, fixes: number) =>
    Promise.all(
      Array.from({ length: lanes * fixes }, (_, i) => {
        const at = {
          timestamp: 1_760_000_000 + i,
          latitude: 52.5 + i / 1e6,
          longitude: 13.4,
          accuracy: 4,
          heading: i % 360,
          speed: 13.9,
        }
        const records = packRecords([at], packDevice(String(356_307_042_441_000 + (i % lanes))), Date.now())
        return appender.append({
          parts: [{ lane: `7/${i % lanes}/1001`, device: String(i % lanes), records }],
          received: 1,
          filtered: [],
        })
      }),
    )
  await store(1, 1)
  await redis.del(keys.schedule, keys.lane('7/0/1001'))
  const before = await usedMemory()
  await store(100, 1000)
  const after = await usedMemory()
  await appender.close()
  redis.disconnect()
  await server.stop()
  return Math.round(((after - before) / 100_000) * 10) / 10

  async function usedMemory(): Promise<number> {
    await sleep(500)
    return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  }
}
