import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import {
  filesBelow,
  filesWith,
  importCircles,
  importsOf,
  ROOT,
  reachableFrom,
  repeatedTypeNames,
  specifiersOf,
} from './support/structure/sources.ts'

const DECODERS = 'protocols/index.ts'

/** Small files that depend on nothing, or on each other. */
const EVERYWHERE = [
  'src/async',
  'src/durable',
  'src/errors',
  'src/masking',
  'src/observe',
  'src/signature',
  'src/texts',
  'src/version',
]

/** Parts of the product that a part may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'protocols/kit': [],
  'src/async': [],
  'src/durable': [],
  'src/errors': [],
  'src/masking': [],
  'src/signature': [],
  'src/texts': [],
  'src/version': ['package.json'],
  'src/observe': ['src/texts', 'src/version'],
  'src/config': ['protocols/kit', 'src/domain', ...EVERYWHERE],
  'src/domain': ['src/texts'],
  'src/redis': EVERYWHERE,
  'src/store': ['protocols/kit', 'src/domain', 'src/redis', ...EVERYWHERE],
  'src/roster': ['protocols/kit', 'src/config', 'src/domain', 'src/store', ...EVERYWHERE],
  'src/gateway': ['protocols/kit', 'src/config', 'src/domain', 'src/http', 'src/roster', 'src/store', ...EVERYWHERE],
  'src/http': EVERYWHERE,
  'src/tracking': ['src/domain', 'src/http', ...EVERYWHERE],
  'src/sandbox/tracking': ['src/http', 'src/tracking', ...EVERYWHERE],
  'src/copies': ['src/config', 'src/domain', 'src/store', 'src/tracking', ...EVERYWHERE],
  'src/push': ['src/domain', 'src/store', 'src/tracking', ...EVERYWHERE],
  'src/verify': ['src/config', 'src/domain', 'src/http', 'src/store', 'src/tracking', ...EVERYWHERE],
  'src/diagnose': ['src/domain', 'src/observe', 'src/texts'],
  'src/admin/schemas': ['src/diagnose'],
  'src/admin': [
    'src/config',
    'src/diagnose',
    'src/http',
    'src/domain',
    'src/page/build',
    'src/push',
    'src/roster',
    'src/store',
    'src/tracking',
    'src/verify',
    ...EVERYWHERE,
  ],
  'src/alerts': ['src/admin', 'src/config', 'src/diagnose', 'src/domain', 'src/store', ...EVERYWHERE],
  'src/page': ['src/admin/schemas'],
  'src/process': ['protocols', 'src'],
  'src/sandbox': ['protocols', 'src'],
  'src/cli': ['protocols', 'src'],
}

/** Files that may know all decoders: the wiring of listeners, the simulator, and the command line. */
const MAY_IMPORT_DECODERS = ['src/process/start.ts', 'src/process/roles', 'src/sandbox', 'src/cli']

const files = ['src', 'protocols'].flatMap((folder) => filesBelow(folder))
const imports = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })))

it('the import rules cover every source file', () => {
  expect(files.length).toBeGreaterThan(80)
  expect(imports.length).toBeGreaterThan(200)
})

it.each(Object.keys(MAY_IMPORT))('%s imports only what it may', (part) => {
  const allowed = [part, ...MAY_IMPORT[part]]
  const others = imports.filter(
    ({ file, target }) => within(file, part) && !allowed.some((each) => within(target, each)),
  )
  expect(others).toEqual([])
})

it.each(protocolFolders())('protocols/%s imports the kit and nothing else', (name) => {
  const folder = `protocols/${name}`
  const others = imports.filter(
    ({ file, target }) => within(file, folder) && !within(target, folder) && target !== 'protocols/kit/index.ts',
  )
  expect(others).toEqual([])
})

it('the kit and the decoders do no I/O', () => {
  const builtins = files.filter((file) => file.startsWith('protocols/')).flatMap((file) => builtinsOf(file))
  expect(builtins.filter((name) => !['node:buffer', 'node:crypto', 'node:zlib'].includes(name))).toEqual([])
})

it('the page imports only types from the admin port', () => {
  const types = filesWith(/^import type [^'"]*?from '[^']*admin\/schemas\//gm, filesBelow('src/page'))
  expect(types.length).toBeGreaterThan(20)
  expect(filesWith(/^(import|export) (?!type )[^'"]*?from '[^']*admin\//gm, filesBelow('src/page'))).toEqual([])
})

it('only the wiring, the simulator and the command line know all decoders', () => {
  const others = imports
    .filter(({ target }) => target === DECODERS)
    .filter(({ file }) => !MAY_IMPORT_DECODERS.some((each) => within(file, each)))
  expect(others).toEqual([])
})

it('only the store imports connections to Redis, and its index passes on what others need', () => {
  const others = imports
    .filter(({ target }) => within(target, 'src/redis'))
    .filter(({ file }) => !within(file, 'src/redis') && !within(file, 'src/store'))
  expect(others).toEqual([])
})

it('a worker and the tracking service never load a decoder', () => {
  for (const role of ['src/process/roles/worker.ts', 'src/process/roles/tracking.ts'])
    expect(
      [...reachableFrom(role)].filter((file) => file.startsWith('protocols/') && !within(file, 'protocols/kit')),
    ).toEqual([])
})

it('no files import each other in a circle', () => {
  expect(importCircles(['src', 'protocols', 'test'].flatMap((folder) => filesBelow(folder)))).toEqual([])
})

it('no file stands beside a folder of the same name', () => {
  const all = ['docker', 'protocols', 'src', 'test'].flatMap((folder) => filesBelow(folder, /\.(?:tsx?|mjs)$/))
  const folders = new Set(all.flatMap((file) => [dirname(file), dirname(dirname(file))]))
  expect(all.filter((file) => folders.has(file.replace(/\.\w+$/, '')))).toEqual([])
})

it('every type name is declared in only one file of src', () => {
  expect([...repeatedTypeNames(filesBelow('src'))]).toEqual([])
})

it('there are no import cycles between parts', () => {
  const parts = Object.keys(MAY_IMPORT)
  const partOf = (path: string) => parts.find((part) => within(path, part))
  const edges = new Map(parts.map((part) => [part, new Set<string>()]))
  for (const { file, target } of imports) {
    const [from, to] = [partOf(file), partOf(target)]
    if (from && to && from !== to) edges.get(from)?.add(to)
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of edges.get(from) ?? []) if (!seen.has(to)) reach(to, seen.add(to))
    return seen
  }
  expect(parts.filter((part) => reach(part).has(part))).toEqual([])
})

function within(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`) || path.startsWith(`${part}.`)
}

function protocolFolders(): string[] {
  return readdirSync(join(ROOT, 'protocols'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'kit')
    .map(({ name }) => name)
}

function builtinsOf(file: string): string[] {
  return specifiersOf(file).filter((specifier) => specifier.startsWith('node:'))
}
