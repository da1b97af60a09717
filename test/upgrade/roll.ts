import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { socketOf, socketUrl } from '../../src/process/redis-endpoint.ts'
import type { FleetVan } from '../../src/sandbox/fleet.ts'
import { FORMAT, openRedis, readFormat } from '../../src/store/index.ts'
import { judge, type Verdict } from '../chaos/verdict.ts'
import { custodyOnce, isAtRest, statusOf } from '../rig/product.ts'
import { startRole } from '../rig/role.ts'
import { MAX_MEMORY, PUSH_TIMEOUT_MS, prepareSite, type Site } from '../rig/site.ts'
import { startUpstreamApi } from '../rig/upstream.ts'
import { createChaosFleet, startVans } from '../rig/vans.ts'
import { openWires } from '../rig/wire.ts'
import { endChild, killAtEnd, untilSo } from '../support/processes.ts'
import { thisVersion, type Version } from './version.ts'

export interface RollOptions {
  /** The version before this one. */
  readonly before: Version
  readonly vans: number
  readonly seed: number
  /** How long the vans drive between two replacements. */
  readonly stepMs: number
  readonly say: (line: string) => void
}

/** The roles that run around one Redis. */
const ROLES = ['admin', 'worker', 'worker', 'gateway', 'gateway'] as const
/** Which of them is replaced by which version, one after the other: some, these back again, then all. */
const STEPS = [
  [1, 'this'],
  [3, 'this'],
  [0, 'this'],
  [3, 'before'],
  [0, 'before'],
  [1, 'before'],
  [4, 'this'],
  [2, 'this'],
  [3, 'this'],
  [1, 'this'],
  [0, 'this'],
] as const

/** Replaces the processes of a product that serves vans, and follows what became of each fix. */
export async function roll(options: RollOptions): Promise<Verdict & { readonly kept?: string }> {
  const fleet = createChaosFleet(options.vans)
  const site = await prepareSite(fleet, { gateways: ROLES.length, topology: 'single' })
  const stage = await setUp(site)
  let isWell = false
  try {
    const verdict = await play(stage, fleet, options)
    isWell = verdict.problems.length === 0
    return { ...verdict, kept: isWell ? undefined : site.dir }
  } finally {
    await stage.close()
    await site.leave(!isWell)
  }
}

type Stage = Awaited<ReturnType<typeof setUp>>

/** Starts everything but the processes that are replaced. */
async function setUp(site: Site) {
  const journal = join(site.dir, 'journal.jsonl')
  const api = await startUpstreamApi({ journal, port: site.apiPort, lateMs: PUSH_TIMEOUT_MS })
  const log = await open(join(site.dir, 'roles.log'), 'a')
  const redis = spawn(process.execPath, [REDIS, site.dataDir, String(MAX_MEMORY)], {
    stdio: ['ignore', log.fd, log.fd],
  })
  killAtEnd(redis)
  const gateways = site.machines.filter((_, index) => ROLES[index] === 'gateway')
  const wires = await openWires(gateways, { mode: 'good', broken: 0 })
  return {
    site,
    api,
    log,
    /** By its index in `ROLES`; none before its first start. */
    children: [] as ChildProcess[],
    /** Where the vans dial. */
    ports: { ...gateways[0].ports, ...wires.ports },
    async close() {
      await Promise.all(this.children.map((child) => endChild(child, 'SIGTERM', END_MS)))
      await wires.close()
      await endChild(redis)
      await log.close()
    },
  }
}

async function play(stage: Stage, fleet: readonly FleetVan[], options: RollOptions): Promise<Verdict> {
  const { api, ports, site } = stage
  await Promise.all(ROLES.map((_, index) => replace(stage, index, options.before)))
  const vans = startVans(fleet, ports, options.seed)
  const problems = await replaceAll(stage, options)
  await pause(options.stepMs)
  await vans.settle(SETTLED_BY_MS)
  const custody = await custodyOnce(() => statusOf(site), isAtRest, { withinMs: DELIVERED_BY_MS })
  vans.close()
  for (const [index, name] of ROLES.entries()) problems.push(...ended(name, await end(stage, index)))
  const verdict = judge({ ...(await api.end()), trips: vans.trips, edits: [], shown: new Set(), custody })
  return { ...verdict, problems: [...problems, ...verdict.problems] }
}

/** Returns a sentence for each process that did not end in order, and where the format of the data is not as it must be. */
async function replaceAll(stage: Stage, { before, stepMs, say }: RollOptions): Promise<string[]> {
  const problems: string[] = []
  await pause(stepMs)
  const format = await formatOf(stage.site)
  for (const [index, version] of STEPS) {
    await pause(stepMs)
    problems.push(...(await formatProblems(stage.site, format)))
    const name = `${ROLES[index]} ${index}`
    problems.push(...ended(name, await replace(stage, index, version === 'this' ? thisVersion : before)))
    say(`${name} is that of ${version === 'this' ? 'this version' : 'the version before'}`)
  }
  return [...problems, ...(await formatProblems(stage.site, FORMAT))]
}

/** Ends the process of a role, if it runs, and starts that of the version; resolves to the exit code of the first once the new one is ready. */
async function replace(stage: Stage, index: number, { cli }: Version): Promise<number | null> {
  const code = await end(stage, index)
  const { fd } = stage.log
  const options = { ...stage.site.machines[index], cli, stdio: [fd, fd] }
  stage.children[index] = await startRole(ROLES[index], options)
  return code
}

/** Ends the process of a role; returns its exit code, 0 if it did not run. */
async function end({ children }: Stage, index: number): Promise<number | null> {
  return children[index] ? endChild(children[index], 'SIGTERM', END_MS) : 0
}

function ended(name: string, code: number | null): string[] {
  return code === 0 ? [] : [`${name} ended with ${code}`]
}

/** Nothing, once the data have this format, as they have within some seconds. */
async function formatProblems(site: Site, wanted: number): Promise<string[]> {
  let format = Number.NaN
  await untilSo(async () => (format = await formatOf(site)) === wanted, { withinMs: RISEN_BY_MS, everyMs: 100 })
  return format === wanted ? [] : [`the data have format ${format} in place of ${wanted}`]
}

async function formatOf({ dataDir }: Site): Promise<number> {
  const redis = openRedis(socketUrl(await socketOf(join(dataDir, 'redis'))), {})
  return readFormat(redis).finally(() => redis.disconnect())
}

const REDIS = fileURLToPath(new URL('../rig/redis.ts', import.meta.url))
const RISEN_BY_MS = 30_000
const SETTLED_BY_MS = 60_000
const DELIVERED_BY_MS = 60_000
const END_MS = 15_000
