import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** Commands with options. */
it.each(['chaos', 'faults', 'upgrade'])('the command %s names its options if one is wrong, in one line', (name) => {
  const file = fileURLToPath(new URL(`${name}/index.ts`, import.meta.url))
  const { status, stderr, stdout } = spawnSync(process.execPath, [file, '--nonsense'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^Unknown option '--nonsense'\. There are --\w[^\n]+\.\n$/)
})
