import { commandOptions } from '../support/command-options.ts'
import { roll } from './roll.ts'
import { versionOf } from './version.ts'

/**
 * A rolling upgrade under load: `--from COMMIT --vans N --seed S --seconds N` (between two replacements). Exit 0 if nothing was
 * lost, everything came in order, and the account has no difference; 77 if the clone lacks the version to come from.
 */
/** The last commit in which what was last heard of a device was in several keys. */
const BEFORE = 'f89f71a407dc48757215b4239bcfed36188e6580'
const values = commandOptions({
  from: { type: 'string', default: BEFORE },
  vans: { type: 'string', default: '30' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  seconds: { type: 'string', default: '2' },
})
const SKIPPED = 77
const [vans, seed, stepMs] = [Number(values.vans), Number(values.seed), Number(values.seconds) * 1000]
const before = await versionOf(values.from)
if (!before) {
  console.log(`skipped: this clone has no commit ${values.from}; git fetch --unshallow gets it`)
  process.exit(SKIPPED)
}
console.log(`upgrade: from ${values.from.slice(0, 7)} to this version, seed ${seed}, ${vans} vans`)
const began = performance.now()
const say = (line: string) => console.log(`  ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`)
try {
  const { problems, kept, ...figures } = await roll({ before, vans, seed, stepMs, say })
  for (const problem of problems.slice(0, 20)) console.log(`PROBLEM ${problem}`)
  if (kept) console.log(`kept: ${kept}`)
  console.log(`twice: stored ${figures.storedTwice}, pushed ${figures.pushedTwice + figures.untold}`)
  console.log(`longest time to an acknowledgement: ${(figures.longestAckMs / 1000).toFixed(1)} s`)
  const { made, acked, delivered, lost } = figures
  console.log(`sent=${made} acked=${acked} delivered=${delivered} lost=${lost} problems=${problems.length}`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await before.end()
}
