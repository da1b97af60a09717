import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuTimes, endChild, messageOf } from '../../support/processes.ts'
import { pidOf, type Rig, type RigOptions, startProductRig, startRig } from './rig.ts'

const SENDER = fileURLToPath(new URL('sender.ts', import.meta.url))

export interface RoadOptions {
  readonly rig: RigOptions
  readonly fixesPerPacket: number
  /** Packets a second; null: as fast as the road goes. */
  readonly packetsPerSecond: number | null
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Whether fixes are of now, as those of a fleet that sends at most one a second each; absent: they are of long ago. */
  readonly isLive?: boolean
  /** So many on one port, as `start` runs them; absent: the roles alone. */
  readonly gateways?: number
  /** With `gateways`: in how many shards. */
  readonly shards?: number
}

export interface RoadResult {
  /** Delivered to the API in the time measured. */
  readonly fixesPerS: number
  readonly ackP50Ms: number
  readonly ackP99Ms: number
  readonly delayP50Ms: number
  readonly delayP99Ms: number
  readonly requestsPer1000Fixes: number
  /** Fixes stored by one script call, on average. */
  readonly fixesPerAppend: number
  readonly cpuUsPerFix: Readonly<Record<string, number>>
}

/** Sends vans down the whole road, from socket to API, and measures after a warm-up. */
export async function measureRoad(options: RoadOptions): Promise<RoadResult> {
  const { gateways, shards } = options
  const rig = await (gateways === undefined
    ? startRig(options.rig)
    : startProductRig({ ...options.rig, gateways, shards }))
  const plan = {
    port: rig.port,
    vans: options.rig.vans,
    fixesPerPacket: options.fixesPerPacket,
    packetsPerSecond: options.packetsPerSecond,
    maxBehind: MAX_BEHIND,
    keepSamples: options.rig.keepSamples ?? false,
    isLive: options.isLive ?? false,
  }
  const sender = fork(SENDER, [JSON.stringify(plan)])
  const tell = (what: object) => sender.connected && sender.send(what)
  await messageOf(sender, 'ready')
  const telling = setInterval(() => tell({ delivered: rig.progress().positions }), 50)
  try {
    await sleep(options.warmUpSeconds * 1000)
    const processes = new Map([...rig.processes, ['sender', pidOf(sender)]])
    const before = await stateOf(rig, processes)
    tell({ reset: true })
    await sleep(options.seconds * 1000)
    const after = await stateOf(rig, processes)
    tell({ samples: true })
    const { acks, sentAt } = await messageOf<{ acks: number[]; sentAt: Sample[] }>(sender, 'samples')
    const delays = options.rig.keepSamples ? await delaysOf(rig, sentAt, before.at) : []
    return { ...rates(before, after), ...acknowledgements(acks), ...delayed(delays) }
  } finally {
    clearInterval(telling)
    tell({ stop: true })
    await endChild(sender)
    await rig.stop()
  }
}

type Sample = [courier: number, timestamp: number, at: number]

interface State {
  readonly at: number
  readonly positions: number
  readonly requests: number
  readonly received: number
  readonly appends: number
  readonly cpu: ReadonlyMap<string, number>
}

async function stateOf(rig: Rig, processes: ReadonlyMap<string, number>): Promise<State> {
  const [received, appends] = await Promise.all([
    rig.metric('waybridge_fixes_received_total'),
    rig.metric('waybridge_appends_total'),
  ])
  const cpu = cpuTimes(processes)
  return { at: performance.timeOrigin + performance.now(), ...rig.progress(), received, appends, cpu }
}

function rates(before: State, after: State) {
  const fixes = after.positions - before.positions
  const cpu = [...after.cpu].map(
    ([name, ms]) => [name, round((ms - (before.cpu.get(name) ?? 0)) * 1000) / fixes] as const,
  )
  return {
    fixesPerS: Math.round(fixes / ((after.at - before.at) / 1000)),
    requestsPer1000Fixes: round(((after.requests - before.requests) / fixes) * 1000),
    fixesPerAppend: round((after.received - before.received) / (after.appends - before.appends)),
    cpuUsPerFix: Object.fromEntries(cpu.map(([name, us]) => [name, round(us)])),
  }
}

/** From the fix's last byte sent to the API's answer, of those sent since `since`. */
async function delaysOf(rig: Rig, sentAt: readonly Sample[], since: number): Promise<number[]> {
  rig.api.send('samples')
  const { samples } = await messageOf<{ samples: Sample[] }>(rig.api, 'samples')
  const answered = new Map(samples.map(([courier, timestamp, at]) => [`${courier} ${timestamp}`, at]))
  return sentAt.flatMap(([courier, timestamp, at]) => {
    const answeredAt = answered.get(`${courier} ${timestamp}`)
    return at < since || answeredAt === undefined ? [] : [answeredAt - at]
  })
}

function acknowledgements(acks: readonly number[]) {
  return { ackP50Ms: percentile(acks, 0.5), ackP99Ms: percentile(acks, 0.99) }
}

function delayed(delays: readonly number[]) {
  return { delayP50Ms: percentile(delays, 0.5), delayP99Ms: percentile(delays, 0.99) }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** The sender holds back while more fixes than these are acknowledged and not delivered: what is measured is sustained. */
const MAX_BEHIND = 250_000
