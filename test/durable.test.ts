import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { keptText, moveDurably, writeDurably } from '../src/durable.ts'
import { temporaryDir } from './support/running.ts'

it('a durable write replaces a file for its owner only, and leaves no other file', async () => {
  const dir = await temporaryDir()
  for (const text of ['one', 'two']) await writeDurably(join(dir, 'file'), text)
  expect(await readFile(join(dir, 'file'), 'utf8')).toBe('two')
  expect((await stat(join(dir, 'file'))).mode & 0o777).toBe(0o600)
  expect(await readdir(dir)).toEqual(['file'])
})

it('a durable move moves a folder with its content', async () => {
  const dir = await temporaryDir()
  await mkdir(join(dir, 'from'))
  await writeFile(join(dir, 'from/file'), 'text')
  await moveDurably(join(dir, 'from'), join(dir, 'to'))
  expect(await readFile(join(dir, 'to/file'), 'utf8')).toBe('text')
})

let made = 0
const number = { isWhole: (text: string) => /^\d+$/.test(text), make: () => `${++made}` }

it('a shared file is made once for all processes that need it at the same time', async () => {
  const dir = await temporaryDir()
  const all = await Promise.all(Array.from({ length: 20 }, () => keptText(join(dir, 'file'), number)))
  expect(new Set(all.map(({ text }) => text)).size).toBe(1)
  expect(all.filter(({ is }) => is === 'made').length).toBe(1)
  expect(await readdir(dir)).toEqual(['file'])
})

it.each([
  ['empty', ''],
  ['full of zeros', '\0\0\0'],
])('a shared file is replaced if it is %s', async (_, text) => {
  const file = join(await temporaryDir(), 'file')
  await writeFile(file, text)
  const { text: written, is } = await keptText(file, number)
  expect([await readFile(file, 'utf8'), is]).toEqual([written, 'replaced'])
  expect(await keptText(file, number)).toEqual({ text: written, is: 'kept' })
})
