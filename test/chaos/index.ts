import { setMaxListeners } from 'node:events'
import type { Topology } from '../rig/replicated-redis.ts'
import { commandOptions } from '../support/command-options.ts'
import { nextChange, runAgainAt } from './dst.ts'
import { type Fault, KINDS, planFaults } from './plan.ts'
import { type Outcome, runChaos } from './run.ts'

/**
 * A chaos run: `--minutes N --seed S [--topology single|sentinel|cluster] [--shards N] [--vans N] [--gateways N]
 * [--only kind,kind]`. Vans keep each fix until it is acknowledged, and send it again, to the next gateway; the roster changes each
 * second or two, some of it in the past. Exit 0 if every acknowledged fix is at the API (those from the future: held), at the courier and route of its own
 * time alone, in order; the account adds up; less than 1 % is stored twice; each answered change of the roster is in effect; nothing
 * is left running. A fault whose means are missing is `missed`.
 */
const MOST_PROBLEMS = 20
/** Until all is ready and the first fault may come, on a busy machine. */
const READY_MS = 20_000
const values = commandOptions({
  minutes: { type: 'string', default: '2' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  vans: { type: 'string', default: '40' },
  gateways: { type: 'string', default: '2' },
  topology: { type: 'string', default: 'single' },
  shards: { type: 'string', default: '1' },
  only: { type: 'string' },
})
const topology = values.topology as Topology
if (!Object.hasOwn(KINDS, topology)) fail(`--topology ${topology}: there are ${Object.keys(KINDS).join(', ')}.`)
const known: readonly string[] = KINDS[topology]
const kinds = values.only?.split(',') ?? known
const unknown = kinds.filter((kind) => !known.includes(kind))
if (unknown.length > 0) fail(`--only ${unknown.join()}: there are ${known.join(', ')}.`)
const [seed, lengthMs] = [Number(values.seed), Number(values.minutes) * 60_000]
const [vans, gateways, shards] = [values.vans, values.gateways, values.shards].map(Number)
const faults = planFaults(seed, lengthMs, kinds)
// The clocks of the vans are set like that of the product.
const change = faults.find(({ kind }) => kind.startsWith('dst-'))
const isAlone = change === undefined || process.env.WAYBRIDGE_CLOCK !== undefined
process.exitCode =
  (isAlone ? undefined : await runAgainAt(nextChange(change.kind, Date.now()) - change.at - READY_MS)) ?? (await run())

async function run(): Promise<number> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
  console.log(
    `chaos: seed ${seed}, ${values.minutes} min, ${topology}, ${shards} shards, ${vans} vans, ${gateways} gateways, ${faults.length} faults`,
  )
  for (const { at, kind, lastsMs } of faults)
    console.log(
      `  ${(at / 1000).toFixed(1).padStart(6)} s  ${kind}${lastsMs > 0 ? `, ${(lastsMs / 1000).toFixed(1)} s` : ''}`,
    )
  const began = performance.now()
  const say = (line: string) =>
    console.log(`  ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  const outcome = await runChaos({ topology, shards, vans, gateways, seed, lengthMs, faults, signal: stop.signal, say })
  report(outcome)
  return outcome.problems.length === 0 ? 0 : 1
}

function report({ done, missed, starts, broken, edited, past, checked, kept, problems, ...figures }: Outcome): void {
  const share = (count: number) => `${count} (${((100 * count) / figures.delivered).toFixed(2)} %)`
  console.log(`faults: ${tally(done)}; ${broken} connections broken, ${starts} starts`)
  console.log(
    `roster: ${edited} changes, ${past} of the past, by which ${figures.rerouted} fixes went elsewhere; ${figures.either} might have gone by either; ${checked} were read back`,
  )
  if (missed.length > 0) console.log(`missed: ${tally(missed)}`)
  console.log(
    `twice: stored ${share(figures.storedTwice)}, pushed ${share(figures.pushedTwice)}, pushed again as the API had not answered ${share(figures.untold)}`,
  )
  console.log(`longest time to an acknowledgement: ${(figures.longestAckMs / 1000).toFixed(1)} s`)
  for (const problem of problems.slice(0, MOST_PROBLEMS)) console.log(`PROBLEM ${problem}`)
  if (problems.length > MOST_PROBLEMS) console.log(`and ${problems.length - MOST_PROBLEMS} more`)
  if (kept) console.log(`kept: ${kept}`)
  const { made, acked, delivered, corrected, lost } = figures
  console.log(
    `sent=${made} acked=${acked} delivered=${delivered} corrected=${corrected} lost=${lost} problems=${problems.length}`,
  )
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

function tally(faultsOfKinds: readonly Fault[]): string {
  const counts = Map.groupBy(faultsOfKinds, ({ kind }) => kind)
  return [...counts].map(([kind, { length }]) => `${kind} ${length}`).join(', ')
}
