import { globSync } from 'node:fs'
import type { CalledFunction } from './support/structure/coverage.ts'
import { functionsOfOneFrame } from './support/structure/road.ts'
import {
  filesBelow,
  filesWith,
  importCircles,
  linesOf,
  matchesIn,
  ROOT,
  repeatedTypeNames,
} from './support/structure/sources.ts'

/**
 * Prints how large the code is and what a frame crosses, beside the goals. Exit 1 if files import each other in a circle, or
 * where a type's name is declared more than once. `--list` names what was counted; `--static` leaves out what has to be run.
 */
const list = process.argv.includes('--list')
const isStatic = process.argv.includes('--static')

const code = filesBelow('src', /\.(ts|mjs|lua|sh)$/).filter((file) => !/\/(sandbox|page)\//.test(file))
const decoders = filesBelow('protocols').filter((file) => !/^protocols\/(kit\/|[^/]+$)|\/setup\.ts$/.test(file))
// JSON is one of several formats of osmand and teltonika, and one field of the binary frames of snapper; `jsonObjects` only cuts a stream.
const jsonDecoders = filesWith(/\b(?:parseJson|json(?!Objects\b)[A-Z]\w+)\b/g, decoders).filter(
  (file) => !/\/(osmand|teltonika|snapper)\//.test(file),
)
const timers = /(?<!function )\b(?:everySecond|setInterval)\(/g
const stateOfConnections =
  /^(?:export )?const \w+ = new Weak(?:Map|Set)<(?:\w*Redis|Socket|Session|Shard|Store|\w*Connection|Conversation)\b/gm
/** The fields of `Conversation` are read-only to others: what writes them names its `this`. */
const sessionWriters = filesWith(
  /\bthis: Writable\b|\b(?:session|conversation|talk)\.\w+(?:\+\+|--| (?:\?\?|\|\||&&|\+|-)?= )/g,
  code.filter((file) => !file.startsWith('src/cli/')),
)
const documents = globSync('{*,.github/*,{config,docker,protocols,src,test}/**/*}.md', { cwd: ROOT }).filter(
  (file) => file !== 'CHANGELOG.md',
)
const circles = importCircles(['src', 'protocols', 'test'].flatMap((folder) => filesBelow(folder)))
const repeated = repeatedTypeNames(filesBelow('src'))
const road = isStatic ? undefined : await functionsOfOneFrame()

for (const circle of circles) console.log(`import circle: ${circle.join(', ')}`)
for (const [name, files] of repeated) console.log(`declared more than once: ${name} in ${files.join(', ')}`)
if (list) {
  for (const [path, functions] of Map.groupBy(road?.frame ?? [], (each) => each.file))
    console.log(`a frame crosses ${path}: ${functions.map(({ name }) => name || '(anonymous)').join(', ')}`)
  for (const file of jsonDecoders) console.log(`decodes JSON: ${file}`)
  for (const file of filesWith(timers, code)) console.log(`has loops or timers: ${file}`)
  for (const file of filesWith(stateOfConnections, [...code, ...decoders]))
    console.log(`keeps state by connection: ${file}`)
  for (const file of sessionWriters) console.log(`writes a session: ${file}`)
  for (const file of code) console.log(`${String(linesOf([file])).padStart(5)} ${file}`)
}

const rows: readonly (readonly [what: string, now: string, goal: string])[] = [
  ['files · functions that a Teltonika frame crosses', crossed(road?.frame), '≤ 16 · ≤ 55'],
  ['  of these in protocols', crossed(road?.frame.filter(isProtocol)), ''],
  ['  with connection and login', crossed(road?.connection), ''],
  ['lines of the files on that path, TypeScript · Lua', linesOfRoad(), '≤ 2,800 · ≤ 450'],
  ['code lines without protocols, simulator, page · files', both(linesOf(code), code.length), '≤ 29,000 · ≤ 230'],
  [
    'protocols: lines of JSON decoders · decoders in all',
    both(linesOf(jsonDecoders), linesOf(decoders)),
    '≤ 1,100 · ≤ 19,000',
  ],
  ['test lines', shown(linesOf(filesBelow('test'))), '≤ 66,000'],
  ['CPU of one fix a packet: gateway user · Redis, µs', 'npm run bench', '≤ 7 · ≤ 5'],
  ['loops and timers (`everySecond`, `setInterval`)', shown(matchesIn(timers, code)), '≤ 20'],
  [
    'module state keyed by a connection · files that write a session',
    both(matchesIn(stateOfConnections, [...code, ...decoders]), sessionWriters.length),
    '0 · 1',
  ],
  [
    'README words · decision records',
    both(matchesIn(/\S+/g, documents), matchesIn(/^\d+\. \*\*/gm, ['src/README.md'])),
    '≤ 28,000 · 10',
  ],
  ['import circles · type names declared twice in src', both(circles.length, repeated.size), '0 · 0'],
]
console.log(`\n${'what'.padEnd(64)} ${'now'.padEnd(16)} goal`)
for (const [what, now, goal] of rows) console.log(`${what.padEnd(64)} ${now.padEnd(16)} ${goal}`)
process.exitCode = circles.length + repeated.size > 0 ? 1 : 0

/** The files and named functions, without Lua, which has none. */
function crossed(functions: readonly CalledFunction[] | undefined): string {
  const own = functions?.filter(({ file }) => !isLua(file))
  const named = own?.filter(({ name }) => name !== '' && !name.startsWith('<'))
  return own && named ? both(new Set(own.map(({ file }) => file)).size, named.length) : '-'
}

function linesOfRoad(): string {
  const files = [...new Set(road?.frame.map(({ file }) => file))]
  return road ? both(linesOf(files.filter((file) => !isLua(file))), linesOf(files.filter(isLua))) : '-'
}

function isLua(file: string): boolean {
  return file.endsWith('.lua')
}

function isProtocol({ file }: CalledFunction): boolean {
  return file.startsWith('protocols/')
}

function both(one: number, other: number): string {
  return `${shown(one)} · ${shown(other)}`
}

function shown(count: number): string {
  return count.toLocaleString('en')
}
