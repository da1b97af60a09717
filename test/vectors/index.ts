import { enableCompileCache } from 'node:module'
import type { VectorResult } from '../support/vectors/results.ts'
import type { VectorFamily } from '../support/vectors/vectors.ts'

/**
 * `npm run vectors`: of how many of the real frames each protocol reads the positions as they are, gives the answers, and reads what
 * they say besides, of all families. `-- NAME`: which frames of one protocol differ, and how. `-- --consistent`: the families whose
 * fixes contradict each other: see consistency.ts. Exit 0: none but the exceptions; 1: some differ; 2: the vectors are not there.
 */
enableCompileCache()
const { loadProtocol } = await import('../../protocols/index.ts')
const { casesOf } = await import('../support/protocol-cases.ts')
const { differenceText } = await import('../support/vectors/differences.ts')
const { sharesOf, vectorResults } = await import('../support/vectors/results.ts')
const { shownFrame } = await import('../support/vectors/shown.ts')
const { vectorFamilies, vectorsFolder } = await import('../support/vectors/vectors.ts')
const { printContradictions } = await import('./consistency.ts')
const { vectorFrame } = await import('../support/vectors/wire.ts')

/** @returns the exit code */
async function main(names: readonly string[]): Promise<number> {
  const families = vectorFamilies()
  if (!families) {
    console.error(`There are no vectors at ${vectorsFolder}: set WAYBRIDGE_VECTORS to their folder.`)
    return 2
  }
  if (names[0] === '--consistent') return printContradictions(families)
  if (names.length === 0) return (await printTable(families)) ? 0 : 1
  let isSound = true
  for (const name of names) isSound = (await printProtocol(name)) && isSound
  return isSound ? 0 : 1
}

/** Prints which vectors of a protocol differ. @returns whether none does, but the exceptions */
async function printProtocol(name: string): Promise<boolean> {
  const protocol = await loadProtocol(name)
  if (!protocol) {
    console.log(`There is no protocol "${name}": npm run new -- ${name}`)
    return false
  }
  const results = vectorResults(protocol, await casesOf(name))
  for (const { vector, wrong, wrongSaid, exception } of results.filter(
    (result) => isShown(result) || result.wrongSaid.length > 0,
  )) {
    console.log(`${vector.id}${exception === undefined ? '' : `, an exception: ${exception}`}`)
    for (const line of shownFrame(vectorFrame(protocol, vector))) console.log(`  ${line}`)
    for (const each of wrong) console.log(`    ${differenceText(each)}`)
    for (const each of wrongSaid) console.log(`    beside the position: ${differenceText(each)}`)
    if (wrong.length === 0 && exception !== undefined) console.log('    it does not differ: take it off the exceptions')
  }
  console.log(table([rowOf(name, results)]))
  return !results.some(isShown)
}

/** Prints a row for each family of the vectors, and their sum. @returns whether no vector differs, but the exceptions */
async function printTable(families: ReadonlyMap<string, VectorFamily>): Promise<boolean> {
  const rows: Row[] = []
  for (const [name, { frames }] of families) {
    const protocol = await loadProtocol(name)
    const results = protocol ? vectorResults(protocol, await casesOf(name)) : undefined
    rows.push(results ? rowOf(name, results) : [name, frames, ...HEAD.slice(2).map(() => '-')])
  }
  const sums = HEAD.slice(1).map((_, i) => rows.reduce((sum, row) => sum + (Number(row[i + 1]) || 0), 0))
  const [frames, positions, answers, saying, said] = sums
  console.log(table([...rows, [`${rows.length} families, ${rows.filter(isSpoken).length} spoken`, ...sums]]))
  console.log(
    `right: positions ${percent(positions, frames)}, answers ${percent(answers, frames)}, said ${percent(said, saying)}`,
  )
  return rows.every((row) => row.at(-1) === 0 || !isSpoken(row))
}

const percent = (part: number, of: number) => `${((part / of) * 100).toFixed(1)} %`

type Row = readonly (string | number)[]

const HEAD = ['FAMILY', 'FRAMES', 'POSITIONS', 'ANSWERS', 'SAYING', 'SAID', 'CORRECTED', 'EXCEPTED', 'DIFFERENT']

function isSpoken(row: Row): boolean {
  return row.at(-1) !== '-'
}

/** Exceptions that do not differ are shown too: they have to leave the list. */
function isShown({ wrong, exception }: VectorResult): boolean {
  return wrong.length > 0 === (exception === undefined)
}

function rowOf(name: string, results: readonly VectorResult[]): Row {
  const count = (fits: (result: VectorResult) => boolean) => results.filter(fits).length
  const { positions, answers, saying, said } = sharesOf(results)
  return [
    name,
    results.length,
    positions,
    answers,
    saying,
    said,
    count(({ isCorrected }) => isCorrected),
    count(({ exception }) => exception !== undefined),
    count(isShown),
  ]
}

function table(rows: readonly Row[]): string {
  const all = [HEAD, ...rows].map((row) => row.map(String))
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')
  return all.map(line).join('\n')
}

process.exitCode = await main(process.argv.slice(2))
