import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { libraryPath } from '../../src/process/setup/apt.mjs'
import { fetchPackages, fetchUnlessFound, onPath, unpackedDir } from './debian-program.mjs'

/* The browser of the tests of the page. Run as a program, before the tests, it downloads one where there is none. */
const dir = unpackedDir('chromium')

/**
 * The browser, and what it needs in its environment: WAYBRIDGE_CHROMIUM, else the one on PATH, else the one that was downloaded.
 * @returns {{ executablePath: string, env?: Record<string, string | undefined> } | undefined}
 */
export function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  const installed = process.env.WAYBRIDGE_CHROMIUM || onPath(...names)
  if (installed) return { executablePath: installed }
  const executablePath = join(dir, 'usr/lib/chromium/chromium')
  return existsSync(executablePath) ? { executablePath, env: { ...process.env, ...libraryPath(dir) } } : undefined
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await fetchUnlessFound({
    find: findChromium,
    fetch: () => fetchPackages(['chromium'], dir),
    what: 'Chromium for the tests of the page',
    skipped: 'The tests of the page are skipped: install chromium, or name one in WAYBRIDGE_CHROMIUM.',
  })
