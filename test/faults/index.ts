import { readFile, writeFile } from 'node:fs/promises'
import { commandOptions } from '../support/command-options.ts'
import { AUTO_LISTENER } from '../support/product.ts'
import { type Fault, FAULTS } from './faults.ts'
import { type Measured, measure, problemOf, rowOf, TABLE_HEAD } from './measure.ts'
import { type Site, startSite, startSiteOnDisk } from './site.ts'

/**
 * Injects each fault into a running product and measures how long its finding takes: `[--only code,code] [--write]`, which
 * keeps the rows in the table of src/diagnose/README.md. Exit 0 where each was named, and over, in time.
 */
const values = commandOptions({ only: { type: 'string' }, write: { type: 'boolean', default: false } })
const only = values.only?.split(',')
const unknown = only?.filter((code) => FAULTS.every((fault) => fault.code !== code)) ?? []
if (unknown.length > 0) {
  console.error(`--only ${unknown.join()}: there are ${[...new Set(FAULTS.map(({ code }) => code))].join(', ')}.`)
  process.exit(2)
}
const rows: string[] = []
const problems: string[] = []

const first = faultsAt(undefined)
const onDisk = faultsAt('disk')
const long = faultsAt('long')
const auto = faultsAt('auto')
if (onDisk.length > 0) {
  const site = await startSiteOnDisk()
  if (site) await injectAll(site, onDisk)
  else console.log('left out, since no disk can be mounted: disk_full')
}
if (first.length > 0) await injectAll(await startSite(), first)
// At a site where no other device has fallen silent.
if (long.length + auto.length > 0) await injectAll(await startSite({ listeners: AUTO_LISTENER }), [...long, ...auto])

console.log([...TABLE_HEAD, ...rows].join('\n'))
for (const problem of problems) console.log(`PROBLEM ${problem}`)
console.log(`faults=${rows.length} problems=${problems.length}`)
process.exitCode = problems.length === 0 ? 0 : 1

function faultsAt(place: Fault['at']): Fault[] {
  const wanted = FAULTS.filter(({ at, code }) => at === place && (only?.includes(code) ?? true))
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
    for (const one of await Promise.all(together.map((fault) => measure(site, fault)))) await report(one)
    for (const fault of some) if (!together.includes(fault)) await report(await measure(site, fault))
  } finally {
    await site.close()
  }
}

async function report(one: Measured): Promise<void> {
  const row = rowOf(one)
  rows.push(row)
  const problem = problemOf(one)
  if (problem) problems.push(problem)
  console.log(row, one.status?.findings.map(({ message }) => message) ?? [])
  if (values.write) await keep(row)
}

/** Puts a row into the table, in place of the one of the same fault, and leaves out those of faults that are no more. */
async function keep(row: string): Promise<void> {
  const readme = new URL('../../src/diagnose/README.md', import.meta.url)
  const text = await readFile(readme, 'utf8')
  const [, table = ''] = /<!-- measured -->\n([\s\S]*?)<!-- end -->/.exec(text) ?? []
  const known = [row, ...table.split('\n')]
  const kept = FAULTS.flatMap(({ what }) => known.find((line) => line.startsWith(`| ${what} |`)) ?? [])
  await writeFile(readme, text.replace(table, `${[...TABLE_HEAD, ...kept].join('\n')}\n`))
}
