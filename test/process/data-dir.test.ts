import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { installationId, openDataDir } from '../../src/process/data-dir.ts'
import { temporaryDir } from '../support/running.ts'

const logger = pino({ enabled: false })

/** Returns the permissions of other users by path. */
async function permissions(dir: string): Promise<Record<string, string>> {
  const names = ['', ...(await readdir(dir, { recursive: true }))].toSorted()
  const modes = names.map(async (name) => [name, ((await stat(join(dir, name))).mode & 0o777).toString(8)] as const)
  return Object.fromEntries(await Promise.all(modes))
}

it('openDataDir makes a data folder for its owner only', async () => {
  const dir = join(await temporaryDir(), 'a/b')
  await openDataDir(dir, logger)
  expect(await permissions(dir)).toEqual({ '': '700' })
})

it('openDataDir removes the access of others to an older data folder, and changes nothing else', async () => {
  const dir = await temporaryDir()
  for (const folder of ['redis/appendonlydir', 'mine']) await mkdir(join(dir, folder), { recursive: true })
  for (const file of ['tracking.sqlite', 'redis/appendonlydir/a.aof', 'mine/notes']) {
    await writeFile(join(dir, file), '')
    await chmod(join(dir, file), 0o644)
  }
  for (const folder of ['', 'redis', 'redis/appendonlydir', 'mine']) await chmod(join(dir, folder), 0o755)
  await symlink(join(dir, 'mine/notes'), join(dir, 'link'))
  await openDataDir(dir, logger)
  expect(await permissions(dir)).toEqual({
    '': '700',
    link: '644',
    mine: '755',
    'mine/notes': '644',
    redis: '700',
    'redis/appendonlydir': '700',
    'redis/appendonlydir/a.aof': '600',
    'tracking.sqlite': '600',
  })
})

it('installationId keeps the id of an installation, and makes it once for simultaneous callers', async () => {
  const dir = await temporaryDir()
  const all = await Promise.all(Array.from({ length: 10 }, () => installationId(dir, logger)))
  expect(new Set(all.map(({ id }) => id)).size).toBe(1)
  expect(all.filter(({ isNew }) => isNew).length).toBe(1)
  expect(await installationId(dir, logger)).toEqual({ id: all[0].id, isNew: false })
})

it('installationId replaces an id lost in a power cut, logs it, and does not report a new installation', async () => {
  const dir = await temporaryDir()
  await writeFile(join(dir, 'installation'), '')
  const lines: string[] = []
  const warning = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const { id, isNew } = await installationId(dir, warning)
  expect([id, isNew]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), false])
  expect(lines).toEqual([expect.stringContaining('held no id, as after a loss of power')])
  expect(await installationId(dir, warning)).toEqual({ id, isNew: false })
})
