import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { FAULTS } from './faults.ts'
import { type Measured, measure, problemOf, tableOf } from './measure.ts'
import { startSite } from './site.ts'

/**
 * Injects each fault into a running product and measures how long its finding takes: `[--only code,code] [--write]`, which
 * keeps the table in src/diagnose/README.md. Exit 0 where each was named, and over, in time.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
const only = values.only?.split(',')
const faults = FAULTS.filter(({ code }) => only?.includes(code) ?? true)
const site = await startSite()
const measured: Measured[] = []
try {
  for (const fault of faults) {
    const one = await measure(site, fault)
    measured.push(one)
    console.log(
      `${one.foundS ?? '—'} s, ended after ${one.endedS ?? '—'} s: ${fault.what}: ${one.finding?.message ?? ''}`,
    )
  }
} finally {
  await site.close()
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
