import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { custodyOnce } from '../rig/product.ts'
import { startReplicatedRedis, TOPOLOGIES, type Topology } from '../rig/replicated-redis.ts'
import { commandOptions } from '../support/command-options.ts'
import { messageOf } from '../support/processes.ts'
import type { Cost } from './attacker-connections.ts'
import { ATTACKS } from './attacks.ts'
import type { HonestReport } from './honest.ts'
import { DISPLACEMENT, HELD_FIXES } from './id-attacks.ts'
import { PARTIES } from './parties.ts'
import { startTarget, type Target } from './target.ts'

/**
 * Attacks a gateway on loopback, and measures what honest vans beside it notice: `--seconds N` for each attack, `--only text`
 * for those whose name has it, `--rounds N` for all of them so many times. The gateway is one of its own, with a Redis of
 * its own, or with `--topology sentinel|cluster --shards N` a replicated one. Exit 0 if in each attack at least 99 % of the vans'
 * fixes were acknowledged, with p99 under a second, memory within its bound, the account without a difference, no wrong position
 * delivered, no held fix that came over a connection displaced, and nothing told.
 */
const BOUNDS = { ackedShare: 0.99, p99Ms: 1000, memoryBytes: 600 << 20, redisShare: 0.85 }
const WARM_UP_MS = 3000
/** Within which the account is right at one look. */
const SETTLED_MS = 20_000
const REDECODED_MS = 5000
/** Findings about a process that does not work. */
const BROKEN = new Set(['worker_stuck', 'no_worker', 'restarting'])
const values = commandOptions({
  seconds: { type: 'string', default: '15' },
  only: { type: 'string', default: '' },
  rounds: { type: 'string', default: '1' },
  topology: { type: 'string', default: 'single' },
  shards: { type: 'string', default: '1' },
})
const topology = values.topology as Topology
if (!Object.hasOwn(TOPOLOGIES, topology)) {
  console.error(`--topology ${topology}: there are ${Object.keys(TOPOLOGIES).join(', ')}`)
  process.exit(1)
}
const all = [...Object.keys(ATTACKS), ...Object.keys(PARTIES)]
const names = all.filter((name) => name.includes(values.only))
if (names.length === 0) {
  console.error(`--only ${values.only}: there are\n  ${all.join('\n  ')}`)
  process.exit(1)
}

interface Row {
  readonly name: string
  readonly cost: Cost
  readonly honest: readonly Honest[]
  readonly memory: Record<string, number>
  readonly redis: Awaited<ReturnType<Target['redis']>>
  readonly problems: readonly string[]
}

/** What the honest vans of one transport noticed. */
interface Honest {
  readonly transport: string
  readonly ackedShare: number
  readonly failed: number
  readonly p99Ms: number
}

let honest: ChildProcess
let problemCount = 0
const wrong = new Set<string>()
console.log(
  line('attack', 'sent', 'units', 'answers', 'acked', 'p99', 'gateway', 'admin', 'start', 'Redis', 'its call'),
)
const ofSenders = names.filter((name) => name in ATTACKS)
const rounds = Array.from({ length: Number(values.rounds) }, () => ['none', ...ofSenders]).flat()
if (ofSenders.length > 0) await withRedis(async (redis) => attackAll(rounds, await startTarget(redis)))
for (const name of names.filter((each) => each in PARTIES)) {
  const party = fork(fileURLToPath(new URL('party.ts', import.meta.url)), [name])
  const { settings } = await messageOf<{ settings: Record<string, string> }>(party, 'ready')
  await withRedis(async (redis) => attackAll([name], await startTarget({ ...redis, ...settings }), party))
  party.disconnect()
}
console.log(`attacks=${names.length} problems=${problemCount}`)
process.exitCode = problemCount === 0 ? 0 : 1

/** Calls with the settings of a Redis for the topology, which it starts and stops. */
async function withRedis(attackBeside: (settings: Readonly<Record<string, string>>) => Promise<void>): Promise<void> {
  const shards = Number(values.shards)
  const replicated = topology === 'single' ? undefined : await startReplicatedRedis(topology, { shards })
  try {
    await attackBeside({ redis: replicated?.settings ?? `{ max_memory: 64mb, shards: ${shards} }` })
  } finally {
    await replicated?.stop()
  }
}

/** Attacks a target, in each way that is named, and stops it. `party`: a process that it talks to, and that attacks it. */
async function attackAll(ways: readonly string[], target: Target, party?: ChildProcess): Promise<void> {
  honest = fork(fileURLToPath(new URL('honest.ts', import.meta.url)), [JSON.stringify(target.honest)])
  try {
    await messageOf(honest, 'ready')
    await sleep(WARM_UP_MS)
    for (const name of ways) {
      const row = await attack(name, target, party)
      print(row)
      problemCount += row.problems.length
    }
    // What was kept is decoded again after its entry has changed, and delivered then.
    await sleep(REDECODED_MS)
    for (const problem of newWrongPositions(target.wrongPositions())) {
      console.log(`  PROBLEM ${problem}`)
      problemCount++
    }
  } finally {
    honest.disconnect()
    await target.stop()
  }
}

function print({ name, ...row }: Row): void {
  const worst = row.honest.toSorted((one, other) => one.ackedShare - other.ackedShare)[0]
  const share = `${worst.transport} ${(100 * worst.ackedShare).toFixed(1)} %`
  const p99Ms = Math.max(...row.honest.map((each) => each.p99Ms))
  const { bytes, units, received } = row.cost
  const memory = ['gateway', 'admin', 'start'].map((role) => megabytes(row.memory[role]))
  const redis = row.redis ? [`${Math.round(row.redis.share * 100)} %`, `${Math.round(row.redis.slowestMs)} ms`] : []
  const cost = [megabytes(bytes), String(units), megabytes(received)]
  console.log(line(name, ...cost, share, `${Math.round(p99Ms)} ms`, ...memory, ...redis))
  for (const problem of row.problems) console.log(`  PROBLEM ${problem}`)
}

async function attack(
  name: string,
  { memory, redis: lookIntoRedis, status, victim, ...attacked }: Target,
  party?: ChildProcess,
): Promise<Row> {
  await report()
  const attacker =
    name === 'none'
      ? undefined
      : (party ?? fork(fileURLToPath(new URL('attacker.ts', import.meta.url)), [name, JSON.stringify(victim)]))
  party?.send({ type: 'begin' })
  const peak: Record<string, number> = {}
  for (let second = 0; second < Number(values.seconds); second++) {
    await sleep(1000)
    for (const [role, bytes] of Object.entries(memory())) peak[role] = Math.max(peak[role] ?? 0, bytes)
  }
  const vans = Object.entries(await report()).map(([transport, each]) => noticed(transport, each))
  let cost: Cost = { bytes: 0, units: 0, received: 0, told: [] }
  if (attacker) {
    const told = messageOf<{ cost: Cost }>(attacker, 'cost')
    attacker.send({ type: 'stop' })
    cost = (await told).cost
  }
  await attacked.touchGuarded()
  // The account moves while vans send: it is right once it was right at one look.
  const custody = await custodyOnce(status, ({ difference }) => difference === 0, {
    withinMs: SETTLED_MS,
    everyMs: 100,
  })
  const redis = await lookIntoRedis()
  const { findings } = await status().catch(() => ({ findings: [] }))
  const problems = [
    ...findings.filter(({ code }) => BROKEN.has(code)).map(({ code, evidence }) => `${code}: ${evidence.join('; ')}`),
    ...cost.told.map((sentence) => `the attacker learns: ${sentence}`),
    ...newWrongPositions(attacked.wrongPositions()),
    ...vans.flatMap(({ transport, ackedShare, failed, p99Ms }) => [
      ...(ackedShare < BOUNDS.ackedShare ? [`${failed} fixes over ${transport} were not acknowledged`] : []),
      ...(p99Ms > BOUNDS.p99Ms ? [`p99 over ${transport} is ${Math.round(p99Ms)} ms`] : []),
    ]),
    ...Object.entries(peak).flatMap(([role, bytes]) =>
      bytes > BOUNDS.memoryBytes ? [`${role} uses ${Math.round(bytes / 1e6)} MB`] : [],
    ),
    ...(redis && redis.share > BOUNDS.redisShare
      ? [`Redis uses ${Math.round(redis.share * 100)} % of its memory`]
      : []),
    ...(redis && name === DISPLACEMENT && redis.held < HELD_FIXES
      ? [`${redis.held} of ${HELD_FIXES} held fixes are left`]
      : []),
    ...(redis && redis.heldOfVans > 0 ? [`${redis.heldOfVans} fixes of honest vans are held`] : []),
    ...(custody ? [] : ['the admin port does not answer']),
    ...(custody?.difference ? [`the account has a difference of ${custody.difference}`] : []),
  ]
  return { name, cost, honest: vans, memory: peak, redis, problems }
}

/** Those that no attack before has brought. */
function newWrongPositions(found: readonly string[]): readonly string[] {
  const added = found.filter((each) => !wrong.has(each))
  for (const each of added) wrong.add(each)
  return added
}

function noticed(transport: string, { acked, failed, latencies }: HonestReport): Honest {
  const p99Ms = latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.POSITIVE_INFINITY
  return { transport, ackedShare: acked / Math.max(1, acked + failed), failed, p99Ms }
}

/** What honest vans did since the last report, by transport. */
async function report(): Promise<Record<string, HonestReport>> {
  const told = messageOf<{ byTransport: Record<string, HonestReport> }>(honest, 'report')
  honest.send({ type: 'report' })
  return (await told).byTransport
}

function megabytes(bytes = 0): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function line(name: string, ...columns: string[]): string {
  return name.padEnd(44) + columns.map((column) => column.padStart(11)).join('')
}
