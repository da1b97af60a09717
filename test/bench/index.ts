import { parseArgs } from 'node:util'
import { benchDecode } from './decode.ts'
import { bareRedis } from './e2e/bare-redis.ts'
import { bytesPerIdleConnection, redisBytesPerWaitingFix } from './e2e/memory.ts'
import { measureRoad } from './e2e/road.ts'

/**
 * The benchmarks: what the whole road takes, on this machine, sender and a minimal API included. A line for each thing
 * measured; the last line is JSON. `--seconds N`: how long each road is measured. `--decode NAME,…`: only the decoding of these
 * protocols. `--auto`: only what a listener for all protocols costs in place of one for that of the vans. `--replicas`: only what
 * waiting for the replicas of Redis costs.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    decode: { type: 'string' },
    auto: { type: 'boolean' },
    replicas: { type: 'boolean' },
  },
})
const duration = Number(values.seconds) || 20
const part = values.auto ? 'auto' : values.replicas ? 'replicas' : undefined
const pairs = { auto: benchAuto, replicas: benchReplicas }
console.log(JSON.stringify(part ? { [part]: await pairs[part](duration) } : await benchAll()))

async function benchAll() {
  const road = values.decode === undefined ? await benchRoad(duration) : undefined
  const decode = await benchDecode(values.decode?.split(','))
  for (const [protocol, rate] of Object.entries(decode)) say(`decode ${protocol}`, `${rate.fixes_per_s} fixes/s`)
  return { e2e: road?.e2e, decode, ...road }
}

async function benchRoad(seconds: number) {
  const many = { vans: 500, apiDelayMs: 0, concurrency: 64, keepSamples: false }
  const fleet = { vans: 10_000, apiDelayMs: 100, concurrency: 256, keepSamples: true }

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
  const vans = await measureRoad({ rig: fleet, fixesPerPacket: 1, packetsPerSecond: 1000, seconds, warmUpSeconds: 15 })
  say('10,000 vans, a fix every 10 s', `${vans.delayP50Ms} ms median, ${vans.delayP99Ms} ms p99`, vans.cpuUsPerFix)
  const redisFixesPerS = await bareRedis(ten.fixesPerAppend, Math.min(seconds, 10))
  say(`bare Redis, ${ten.fixesPerAppend} fixes a call`, `${redisFixesPerS} fixes/s`)
  const idle = await bytesPerIdleConnection()
  say('an idle connection', `${idle} bytes`)
  const waiting = await redisBytesPerWaitingFix()
  say('a waiting fix in Redis', `${waiting} bytes`)

  const e2e = {
    fixes_per_s_10: ten.fixesPerS,
    fixes_per_s_1: one.fixesPerS,
    ack_p50_ms: half.ackP50Ms,
    ack_p99_ms: half.ackP99Ms,
    redis_fixes_per_s: redisFixesPerS,
    fleet_delay_p50_ms: vans.delayP50Ms,
    fleet_delay_p99_ms: vans.delayP99Ms,
    fleet_requests_per_1000_fixes: vans.requestsPer1000Fixes,
  }
  const memory = { rss_bytes_per_idle_connection: idle, redis_bytes_per_waiting_fix: waiting }
  const cpu_us_per_fix = { ten: ten.cpuUsPerFix, one: one.cpuUsPerFix, half: half.cpuUsPerFix, fleet: vans.cpuUsPerFix }
  return { e2e, memory, cpu_us_per_fix, fixes_per_append: ten.fixesPerAppend }
}

/** The gateway's CPU time per fix with `protocol: auto` by that with the protocol named, in five pairs of roads, and their median. */
async function benchAuto(seconds: number) {
  const rig = { vans: 500, apiDelayMs: 0, concurrency: 64, keepSamples: false }
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
  const rig = { vans: 500, apiDelayMs: 0, concurrency: 64, keepSamples: false }
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

function say(what: string, figure: string, cpu?: Readonly<Record<string, number>>): void {
  const each = Object.entries(cpu ?? {}).map(([name, us]) => `${name} ${us}`)
  console.log(`${what.padEnd(36)} ${figure}${each.length > 0 ? `; CPU µs/fix: ${each.join(', ')}` : ''}`)
}
