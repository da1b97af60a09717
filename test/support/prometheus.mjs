import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchPackages, fetchUnlessFound, unpackedDir } from './debian-program.mjs'

/*
 * Prometheus and promtool for the tests of its rules and of the dashboard. Run as a program, before the tests, it downloads them
 * where there are none.
 */
const dir = unpackedDir('prometheus')

/** The folder with both programs: WAYBRIDGE_PROMETHEUS, else one on PATH, else the one that was downloaded. */
export function findPrometheus() {
  const chosen = process.env.WAYBRIDGE_PROMETHEUS
  const folders = chosen ? [chosen] : [...(process.env.PATH ?? '').split(delimiter), join(dir, 'usr/bin')]
  return folders.find((folder) => ['prometheus', 'promtool'].every((name) => existsSync(join(folder, name))))
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await fetchUnlessFound({
    find: findPrometheus,
    fetch: () => fetchPackages(['prometheus'], dir),
    what: 'Prometheus for the tests of its rules',
    skipped: 'The tests with Prometheus are skipped: install prometheus, or name its folder in WAYBRIDGE_PROMETHEUS.',
  })
