import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, libraryPath, unpackPackages, updatedLists } from '../../src/process/setup/apt.mjs'
import { withLock } from '../../src/process/setup/lock.mjs'

/*
 * The browser of the tests of the page. Run as a program, before the tests, it downloads one where there is none, as set-up does
 * with Redis: from the system's packages, without installing it and without root.
 */
const fetchedDir = fileURLToPath(new URL('../../node_modules/.cache/waybridge/chromium', import.meta.url))
const fetchedProgram = join(fetchedDir, 'usr/lib/chromium/chromium')
const work = `${fetchedDir}.new`
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/**
 * The browser, and what it needs in its environment: WAYBRIDGE_CHROMIUM, else the one on PATH, else the one that was downloaded.
 * @returns {{ executablePath: string, env?: Record<string, string | undefined> } | undefined}
 */
export function findChromium() {
  const chosen = process.env.WAYBRIDGE_CHROMIUM
  if (chosen) return { executablePath: chosen }
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file))
  if (onPath) return { executablePath: onPath }
  if (!existsSync(fetchedProgram)) return undefined
  return { executablePath: fetchedProgram, env: { ...process.env, ...libraryPath(fetchedDir) } }
}

async function fetchChromium() {
  const [packages, unpacked] = [join(work, 'packages'), join(work, 'unpacked')]
  mkdirSync(work, { recursive: true })
  try {
    await unpackPackages(['chromium'], { packages, unpacked, lists: [] }).catch(async () =>
      unpackPackages(['chromium'], { packages, unpacked, lists: await updatedLists(work) }),
    )
    rmSync(fetchedDir, { recursive: true, force: true })
    renameSync(unpacked, fetchedDir)
  } catch {
    // Below it says that there is none.
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !findChromium()) {
  if (hasApt()) {
    process.stderr.write('Downloading Chromium for the tests of the page …\n')
    await withLock(fetchChromium)
  }
  if (!findChromium())
    process.stderr.write('The tests of the page are skipped: install chromium, or name one in WAYBRIDGE_CHROMIUM.\n')
}
