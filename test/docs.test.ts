import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { anchorsOf } from './support/anchors.ts'
import { documents } from './support/docs.ts'
import { ROOT } from './support/structure/sources.ts'

it.each(await documents())(
  'the generated parts of documents are up to date in $path (`npm run docs` writes them)',
  ({ now, wanted }) => {
    expect(now).toBe(wanted)
  },
)

/** One document answers the questions of one reader. */
const MOST_LINES = 250
const DOCUMENTS = '{*.md,.github/**/*.md,{config,docker,protocols,src,test}/**/*.md}'

it('no document is longer than 250 lines', () => {
  const files = globSync(DOCUMENTS, { cwd: ROOT, exclude: ['CHANGELOG.md'] })
  const long = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1 > MOST_LINES)
  expect(long).toEqual([])
})

it('every link of a document leads to a file, and to a heading or id, that exists', () => {
  const links = globSync(DOCUMENTS, { cwd: ROOT }).flatMap((file) => {
    const targets = readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)
    return Array.from(targets, ([, target]) => ({ file, target }))
  })
  expect(links.length).toBeGreaterThan(100)
  const broken = links.filter(({ file, target }) => {
    const [name, anchor] = target.split('#')
    const path = name === '' ? join(ROOT, file) : join(ROOT, dirname(file), name)
    return !existsSync(path) || (anchor !== undefined && !anchorsOf(path).has(anchor))
  })
  expect(broken).toEqual([])
})

it('no document runs a program of the same name from the registry', () => {
  const files = globSync(`{${DOCUMENTS},.github/**/*.yml}`, { cwd: ROOT })
  expect(files.length).toBeGreaterThan(10)
  const naming = files.filter((file) => /npx (?:-\S+ )*waybridge/.test(readFileSync(join(ROOT, file), 'utf8')))
  // Older sections of the changelog are not checked.
  expect(naming.filter((file) => file !== 'CHANGELOG.md')).toEqual([])
})
