import { AUTO_LISTENER } from '../rig/product.ts'
import { commandOptions } from '../support/command-options.ts'
import type { Fault } from './fault.ts'
import { FAULTS } from './faults.ts'
import { TESTED_ELSEWHERE } from './further.ts'
import { type Measured, measure, problemOf, rowOf, TABLE_HEAD } from './measure.ts'
import { LARGE_FLEET, type Site, startSite, startSiteOnDisk } from './site.ts'

/**
 * Injects each fault into a running product, measures how long its finding takes and prints a table: `[--only code,code]`, `[--at
 * first,disk]`: at these sites alone.
 * Exit 0 if each was named, and over, in time.
 */
const values = commandOptions({ only: { type: 'string' }, at: { type: 'string' } })
const only = values.only?.split(',')
const sites = values.at?.split(',')
const names = new Set(FAULTS.map(nameOf))
const unknown = only?.filter((name) => !names.has(name)) ?? []
if (unknown.length > 0) {
  console.error(`--only ${unknown.join()}: there are ${[...names].join(', ')}.`)
  process.exit(2)
}
const rows: string[] = []
const problems: string[] = []
let measured = 0
let falsehoods = 0

const first = faultsAt(undefined)
const onDisk = faultsAt('disk')
const fleet = faultsAt('fleet')
const long = faultsAt('long')
const auto = faultsAt('auto')
const waves = faultsAt('waves')
const tls = faultsAt('tls')
const trial = faultsAt('trial')
const bounds = faultsAt('bounds')
if (onDisk.length > 0) {
  const site = await startSiteOnDisk()
  if (site) await injectAll(site, onDisk)
  else console.log('left out, since no disk can be mounted: disk_full')
}
if (first.length > 0) await injectAll(await startSite(), first)
if (tls.length > 0) await injectAll(await startSite({ isSecure: true }), tls)
if (trial.length > 0) await injectAll(await startSite({ hasTrial: true }), trial)
if (bounds.length > 0) await injectAll(await startSite({ isBounded: true }), bounds)
if (waves.length > 0) await injectAll(await startSite(), waves)
if (fleet.length > 0) await injectAll(await startSite({ vans: LARGE_FLEET.length }), fleet)
// At a site where no other device has fallen silent.
if (long.length + auto.length > 0) await injectAll(await startSite({ listeners: AUTO_LISTENER }), [...long, ...auto])

if (!only && !sites)
  for (const [code, [test, why]] of Object.entries(TESTED_ELSEWHERE))
    rows.push(`| ${why} | \`${code}\` | ${test}.test.ts |`)
console.log([...TABLE_HEAD, ...rows].join('\n'))
for (const problem of problems) console.log(`PROBLEM ${problem}`)
console.log(`faults=${measured} false_sentences=${falsehoods} problems=${problems.length}`)
process.exitCode = problems.length === 0 ? 0 : 1

/** Its code, or what stands for it where no finding does. */
function nameOf({ code = 'never' }: { readonly code?: string }): string {
  return code
}

function faultsAt(place: Fault['at']): Fault[] {
  if (sites && !sites.includes(place ?? 'first')) return []
  const wanted = FAULTS.filter(({ at, code }) => at === place && (only?.includes(nameOf({ code })) ?? true))
  return wanted.filter(({ needs, what }) => {
    if (!needs || needs[1]()) return true
    console.log(`left out, since it needs ${needs[0]}: ${what}`)
    return false
  })
}

/** One after the other; those that take minutes together. */
async function injectAll(site: Site, some: readonly Fault[]): Promise<void> {
  try {
    const together = some.filter(({ at }) => at === 'long')
    for (const one of await Promise.all(together.map((fault) => measure(site, fault)))) report(one)
    for (const fault of some) if (!together.includes(fault)) report(await measure(site, fault))
  } finally {
    await site.close()
  }
}

function report(one: Measured): void {
  const row = rowOf(one)
  rows.push(row)
  measured++
  falsehoods += one.falsehoods.length
  const problem = problemOf(one)
  if (problem) problems.push(problem)
  console.log(row, one.status?.findings.map(({ message }) => message) ?? [], one.onPage ?? '')
}
