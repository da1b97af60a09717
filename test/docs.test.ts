import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documents } from './support/docs.ts'
import { ROOT } from './support/structure/sources.ts'

describe('the generated parts of documents', async () => {
  it.each(await documents())('are up to date in $path (`npm run docs` writes them)', ({ now, wanted }) => {
    expect(now).toBe(wanted)
  })
})

it('no document runs a program of that name from the registry', () => {
  const files = globSync('{*.md,.github/**/*.{md,yml},{config,docker,protocols,src,test}/**/*.md}', { cwd: ROOT })
  expect(files.length).toBeGreaterThan(10)
  const naming = files.filter((file) => /npx (?:-\S+ )*waybridge/.test(readFileSync(join(ROOT, file), 'utf8')))
  // What was written before is history.
  expect(naming.filter((file) => file !== 'CHANGELOG.md')).toEqual([])
})
