import type { CalledFunction } from './support/structure/coverage.ts'
import { functionsOfOneFrame } from './support/structure/road.ts'
import { filesBelow, importCircles, linesOf, repeatedTypeNames } from './support/structure/sources.ts'

/**
 * Prints how the code is laid out, beside the goals. Exit 1 where files import each other in a circle, or where a type's
 * name is declared more than once. `--list` names what was counted; `--static` leaves out what has to be run.
 */
const list = process.argv.includes('--list')
const isStatic = process.argv.includes('--static')

const code = filesBelow('src', /\.(ts|mjs|lua|sh)$/).filter((file) => !/^src\/(sandbox|page)\//.test(file))
const lines = code.map(linesOf).toSorted((a, b) => a - b)
const circles = importCircles(['src', 'protocols', 'test'].flatMap((folder) => filesBelow(folder)))
const repeated = repeatedTypeNames(filesBelow('src'))
const road = isStatic ? undefined : await functionsOfOneFrame()
const crossed = Map.groupBy(road?.frame ?? [], ({ file }) => file)

for (const circle of circles) console.log(`import circle: ${circle.join(', ')}`)
for (const [name, files] of repeated) console.log(`declared more than once: ${name} in ${files.join(', ')}`)
if (list) for (const [file, functions] of crossed) console.log(`${file}: ${functions.map(titleOf).join(', ')}`)
if (list) for (const file of code) console.log(`${String(linesOf(file)).padStart(5)} ${file}`)

const rows: readonly (readonly [what: string, goal: string, now: number | string])[] = [
  ['files a Teltonika frame crosses from socket to push', '≤ 25', filesOf(road?.frame)],
  ['  of these in protocols', '≤ 5', filesOf(road?.frame.filter(isProtocol))],
  ['  with connection and login', '', filesOf(road?.connection)],
  ['named functions it crosses (V8 coverage)', '≤ 80', namedOf(road?.frame)],
  ['  of these in protocols', '≤ 12', namedOf(road?.frame.filter(isProtocol))],
  ['  with connection and login', '', namedOf(road?.connection)],
  ['code files, without protocols, simulator and page', '≤ 200', code.length],
  ['median lines of these', '80–130', lines[Math.floor(lines.length / 2)]],
  ['lines of these', '≤ 16,500', lines.reduce((sum, count) => sum + count, 0)],
  ['import circles between files', '0', circles.length],
  ['type names declared more than once in src', '0', repeated.size],
]
console.log(`\n${'what'.padEnd(56)} ${'goal'.padEnd(10)} now`)
for (const [what, goal, now] of rows) console.log(`${what.padEnd(56)} ${goal.padEnd(10)} ${now}`)
process.exitCode = circles.length + repeated.size > 0 ? 1 : 0

function filesOf(functions: readonly CalledFunction[] | undefined): number | string {
  return functions ? new Set(functions.map(({ file }) => file)).size : '-'
}

function namedOf(functions: readonly CalledFunction[] | undefined): number | string {
  return functions?.filter(({ name }) => name !== '' && !name.startsWith('<')).length ?? '-'
}

function isProtocol({ file }: CalledFunction): boolean {
  return file.startsWith('protocols/')
}

function titleOf({ name }: CalledFunction): string {
  return name || '(anonymous)'
}
