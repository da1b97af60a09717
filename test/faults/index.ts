import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Fault, FAULTS } from './faults.ts'
import { type Measured, measure, problemOf, tableOf } from './measure.ts'
import { type Site, startSite, startSiteOnDisk } from './site.ts'

/**
 * Injects each fault into a running product and measures how long its finding takes: `[--only code,code] [--write]`, which
 * keeps the table in src/diagnose/README.md. Exit 0 where each was named, and over, in time.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
const only = values.only?.split(',')
const faults = FAULTS.filter(({ code }) => only?.includes(code) ?? true)
const measured: Measured[] = []
const onDisk = faults.filter((fault) => fault.onDisk)
const long = faults.filter(({ isLong }) => isLong)
const others = faults.filter((fault) => !fault.onDisk && !fault.isLong)
if (onDisk.length > 0) {
  const site = await startSiteOnDisk()
  if (site) await injectAll(site, onDisk)
  else console.log('left out, since no disk can be mounted: disk_full')
}
if (others.length > 0) await injectAll(await startSite(), others)
// At a site where no other device has fallen silent.
if (long.length > 0) await injectAll(await startSite(), long)

/** One after the other; those that take minutes together. */
async function injectAll(site: Site, some: readonly Fault[]): Promise<void> {
  try {
    if (some === long) for (const one of await Promise.all(some.map((fault) => measure(site, fault)))) report(one)
    else for (const fault of some) report(await measure(site, fault))
  } finally {
    await site.close()
  }
}

function report(one: Measured): void {
  measured.push(one)
  console.log(tableOf([one]).split('\n')[2], one.status?.findings.map(({ message }) => message) ?? [])
}

const table = tableOf(measured)
console.log(table)
if (values.write) {
  const readme = new URL('../../src/diagnose/README.md', import.meta.url)
  const text = await readFile(readme, 'utf8')
  await writeFile(readme, text.replace(/(<!-- measured -->\n)[\s\S]*?(<!-- end -->)/, `$1${table}\n$2`))
}
const problems = measured.flatMap((each) => problemOf(each) ?? [])
for (const problem of problems) console.log(`PROBLEM ${problem}`)
console.log(`faults=${measured.length} problems=${problems.length}`)
process.exitCode = problems.length === 0 ? 0 : 1
