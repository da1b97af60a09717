import { commandOptions } from '../support/command-options.ts'
import { benchApis } from './apis.ts'
import { benchDecode } from './decode.ts'
import { benchDetect } from './detect.ts'
import { bareRedis } from './e2e/bare-redis.ts'
import { startCopyReceivers } from './e2e/copies.ts'
import { bytesPerIdleConnection, redisBytesPerWaitingFix } from './e2e/memory.ts'
import { measureRoad } from './e2e/road.ts'

/** The benchmarks: a line for each thing measured; the last line is JSON. */
const USAGE = `npm run bench -- [options]: what the whole road takes, on this machine, sender and a minimal API included.

  --seconds N     how long each road is measured (20)
  --decode NAME,… only the decoding of these protocols
  --detect        only what finding out the protocol of a connection costs
  --auto          only what a listener for all protocols costs in place of one for that of the vans
  --replicas      only what waiting for the replicas of Redis costs
  --apis          only what one of five APIs that is down costs the others
  --copies        only what five copies cost, of which one gets no answer
  --fleet         only what a fleet costs whose vans seldom send
  --gateways, --shards  only what one, two and four gateways on the same ports, or shards, cost (half an hour)
  --help          print this`
const values = commandOptions({
  help: { type: 'boolean', short: 'h' },
  seconds: { type: 'string' },
  decode: { type: 'string' },
  detect: { type: 'boolean' },
  auto: { type: 'boolean' },
  replicas: { type: 'boolean' },
  apis: { type: 'boolean' },
  copies: { type: 'boolean' },
  fleet: { type: 'boolean' },
  gateways: { type: 'boolean' },
  shards: { type: 'boolean' },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const duration = Number(values.seconds) || 20
const parts = {
  detect: benchDetect,
  auto: benchAuto,
  replicas: benchReplicas,
  apis: benchApis,
  copies: benchCopies,
  fleet: benchFleet,
  gateways: (seconds: number) => benchSeveral('gateways', seconds),
  shards: (seconds: number) => benchSeveral('shards', seconds),
}
const part = (['detect', 'auto', 'replicas', 'apis', 'copies', 'fleet', 'gateways', 'shards'] as const).find(
  (name) => values[name],
)
console.log(JSON.stringify(part ? { [part]: await parts[part](duration) } : await benchAll()))
process.exit()

async function benchAll() {
  const road = values.decode === undefined ? await benchRoad(duration) : undefined
  const decode = await benchDecode(values.decode?.split(','))
  for (const [protocol, rate] of Object.entries(decode)) say(`decode ${protocol}`, `${rate.fixes_per_s} fixes/s`)
  return { e2e: road?.e2e, decode, ...road }
}

async function benchRoad(seconds: number) {
  const many = { vans: 500, concurrency: 64 }

  const ten = await measureRoad({ rig: many, fixesPerPacket: 10, packetsPerSecond: null, seconds, warmUpSeconds: 5 })
  say('socket to API, 10 fixes a packet', `${ten.fixesPerS} fixes/s`, ten.cpuUsPerFix)
  const one = await measureRoad({ rig: many, fixesPerPacket: 1, packetsPerSecond: null, seconds, warmUpSeconds: 5 })
  say('socket to API, 1 fix a packet', `${one.fixesPerS} fixes/s`, one.cpuUsPerFix)
  const half = await measureRoad({
    rig: many,
    fixesPerPacket: 10,
    packetsPerSecond: ten.fixesPerS / 20,
    seconds,
    warmUpSeconds: 5,
  })
  say('acknowledgement at half of that', `${half.ackP50Ms} ms median, ${half.ackP99Ms} ms p99`, half.cpuUsPerFix)
  const fleet = await benchFleet(seconds)
  const redisFixesPerS = await bareRedis(ten.fixesPerAppend, Math.min(seconds, 10))
  say(`bare Redis, ${ten.fixesPerAppend} fixes a call`, `${redisFixesPerS} fixes/s`)
  const idle = await bytesPerIdleConnection()
  say('an idle connection', `${idle.heap} bytes of heap, ${idle.resident} resident`)
  const waiting = await redisBytesPerWaitingFix()
  say('a waiting fix in Redis', `${waiting} bytes`)

  const e2e = {
    fixes_per_s_10: ten.fixesPerS,
    fixes_per_s_1: one.fixesPerS,
    ack_p50_ms: half.ackP50Ms,
    ack_p99_ms: half.ackP99Ms,
    redis_fixes_per_s: redisFixesPerS,
    ...fleet.e2e,
  }
  const memory = {
    rss_bytes_per_idle_connection: idle.resident,
    heap_bytes_per_idle_connection: idle.heap,
    redis_bytes_per_waiting_fix: waiting,
  }
  const cpu_us_per_fix = {
    ten: ten.cpuUsPerFix,
    one: one.cpuUsPerFix,
    half: half.cpuUsPerFix,
    fleet: fleet.cpu_us_per_fix,
  }
  return { e2e, memory, cpu_us_per_fix, fixes_per_append: ten.fixesPerAppend }
}

/** 10,000 vans, each a lane of its own, with a fix every 10 s and every 2.5 s; then as many lanes a second as are sustained. */
async function benchFleet(seconds: number) {
  const fleet = { vans: 10_000, apiDelayMs: 100, concurrency: 256, keepSamples: true }
  const road = { rig: fleet, fixesPerPacket: 1, seconds, warmUpSeconds: 15, isLive: true }
  const wide = { ...road, rig: { ...fleet, concurrency: 1024 } }
  const seldom = await measureRoad({ ...road, packetsPerSecond: 1000 })
  say(
    '10,000 vans, a fix every 10 s',
    `${seldom.delayP50Ms} ms median, ${seldom.delayP99Ms} ms p99`,
    seldom.cpuUsPerFix,
  )
  const often = await measureRoad({ ...wide, packetsPerSecond: 4000 })
  say('10,000 vans, a fix every 2.5 s', `${often.delayP50Ms} ms median, ${often.delayP99Ms} ms p99`, often.cpuUsPerFix)
  // Each van sends later than its last fix was pushed: a lane with one fix each.
  const lanes = await measureRoad({ ...wide, rig: { ...wide.rig, vans: 12_000 }, packetsPerSecond: 6000 })
  const lanesPerS = Math.round((lanes.fixesPerS * lanes.requestsPer1000Fixes) / 1000)
  say('lanes with a fix each', `${lanesPerS} lanes/s`, lanes.cpuUsPerFix)
  const e2e = {
    fleet_delay_p50_ms: seldom.delayP50Ms,
    fleet_delay_p99_ms: seldom.delayP99Ms,
    fleet_ack_p99_ms: seldom.ackP99Ms,
    fleet_requests_per_1000_fixes: seldom.requestsPer1000Fixes,
    fleet_cpu_us_per_fix: { 1000: ofProduct(seldom.cpuUsPerFix), 4000: ofProduct(often.cpuUsPerFix) },
    lanes_per_s: lanesPerS,
  }
  return { e2e, cpu_us_per_fix: seldom.cpuUsPerFix }
}

/** CPU time of gateway, worker and Redis. */
function ofProduct({ gateway, worker, redis }: Readonly<Record<string, number>>): number {
  return Math.round(gateway + worker + redis)
}

/** The gateway's CPU time per fix with `protocol: auto` by that with the protocol named, in five pairs of roads, and their median. */
async function benchAuto(seconds: number) {
  const rig = { vans: 500, concurrency: 64 }
  const plan = { fixesPerPacket: 10, packetsPerSecond: 500, seconds, warmUpSeconds: 5 }
  const ratios: number[] = []
  for (let pair = 0; pair < 5; pair++) {
    const { gateway: named } = (await measureRoad({ ...plan, rig })).cpuUsPerFix
    const { gateway: auto } = (await measureRoad({ ...plan, rig: { ...rig, protocol: 'auto' } })).cpuUsPerFix
    ratios.push(auto / named)
    say('gateway, protocol named · auto', `${named} · ${auto} µs/fix`)
  }
  const median = ratios.toSorted((a, b) => a - b)[2]
  return { cpu_ratios: ratios, cpu_ratio: median }
}

/** The road's throughput where answers wait for two replicas by that where they wait for none, with the same servers, in five pairs. */
async function benchReplicas(seconds: number) {
  const rig = { vans: 500, concurrency: 64 }
  const plan = { fixesPerPacket: 10, packetsPerSecond: null, seconds, warmUpSeconds: 5 }
  const ratios: number[] = []
  for (let pair = 0; pair < 5; pair++) {
    const without = await measureRoad({ ...plan, rig: { ...rig, replicas: 0 } })
    const waiting = await measureRoad({ ...plan, rig: { ...rig, replicas: 2 } })
    ratios.push(waiting.fixesPerS / without.fixesPerS)
    say('waits for 0 · 2 replicas', `${without.fixesPerS} · ${waiting.fixesPerS} fixes/s`)
  }
  return { fixes_per_s_ratios: ratios, fixes_per_s_ratio: ratios.toSorted((a, b) => a - b)[2] }
}

/**
 * Time to the acknowledgement and to the API's answer, and CPU time per fix, with five copies by those without any, for 10,000 vans
 * with a fix every 10 s, in three pairs, and their medians. Four copies are taken, one is never answered.
 */
async function benchCopies(seconds: number) {
  const receivers = await startCopyReceivers(4)
  const fleet = { vans: 10_000, apiDelayMs: 100, concurrency: 256, keepSamples: true }
  const road = { fixesPerPacket: 1, packetsPerSecond: 1000, seconds, warmUpSeconds: 15, isLive: true }
  const ratios: Record<'ack_p99' | 'delay_p99' | 'cpu', number[]> = { ack_p99: [], delay_p99: [], cpu: [] }
  for (let pair = 0; pair < 3; pair++) {
    const none = await measureRoad({ ...road, rig: fleet })
    const five = await measureRoad({ ...road, rig: { ...fleet, copies: receivers.yaml } })
    ratios.ack_p99.push(five.ackP99Ms / none.ackP99Ms)
    ratios.delay_p99.push(five.delayP99Ms / none.delayP99Ms)
    ratios.cpu.push(ofProduct(five.cpuUsPerFix) / ofProduct(none.cpuUsPerFix))
    say('no copy, answers · deliveries, p99', `${none.ackP99Ms} · ${none.delayP99Ms} ms`, none.cpuUsPerFix)
    say('five copies, answers · deliveries', `${five.ackP99Ms} · ${five.delayP99Ms} ms`, five.cpuUsPerFix)
  }
  receivers.close()
  const medians = Object.entries(ratios).map(([name, all]) => [name, all.toSorted((a, b) => a - b)[1]] as const)
  return { ratios, ...Object.fromEntries(medians) }
}

/**
 * CPU time per fix of gateways, worker and Redis with two and four of something by that with one, for 10,000 vans with a request
 * for each fix, at three rates; each measured twice.
 */
async function benchSeveral(what: 'gateways' | 'shards', seconds: number) {
  const rig = { vans: 10_000, concurrency: 256 }
  // Each of several takes longer until its code is compiled.
  const road = { rig, fixesPerPacket: 1, seconds, warmUpSeconds: 60, isLive: true }
  const ratios: Record<string, Record<string, number>> = {}
  for (const packetsPerSecond of [1000, 4000, 8000]) {
    const sums = new Map<number, number>()
    // In this order, what else the machine does counts for all.
    for (const count of [1, 2, 4, 4, 2, 1]) {
      const { cpuUsPerFix } = await measureRoad({ ...road, packetsPerSecond, gateways: 1, [what]: count })
      const { api: _, sender: __, ...ours } = cpuUsPerFix
      const sum = Object.values(ours).reduce((one, other) => one + other, 0)
      sums.set(count, (sums.get(count) ?? 0) + sum / 2)
      say(`${packetsPerSecond} fixes/s, ${count} ${what}`, `${Math.round(sum * 10) / 10} µs/fix`, ours)
    }
    const one = sums.get(1) ?? Number.NaN
    ratios[packetsPerSecond] = Object.fromEntries(
      [...sums].map(([number, us]) => [number, Math.round((us / one) * 100) / 100]),
    )
  }
  return { cpu_ratios: ratios }
}

function say(what: string, figure: string, cpu?: Readonly<Record<string, number>>): void {
  const each = Object.entries(cpu ?? {}).map(([name, us]) => `${name} ${us}`)
  console.log(`${what.padEnd(36)} ${figure}${each.length > 0 ? `; CPU µs/fix: ${each.join(', ')}` : ''}`)
}
