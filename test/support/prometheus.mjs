import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, unpackPackages, updatedLists } from '../../src/process/setup/apt.mjs'
import { withLock } from '../../src/process/setup/lock.mjs'

/*
 * Prometheus and promtool for the tests of its rules and of the dashboard. Run as a program, before the tests, it downloads them
 * where there are none: from the system's packages, without installing them and without root.
 */
const fetchedDir = fileURLToPath(new URL('../../node_modules/.cache/waybridge/prometheus', import.meta.url))
const work = `${fetchedDir}.new`

/** The folder with both programs: WAYBRIDGE_PROMETHEUS, else one on PATH, else the one that was downloaded. */
export function findPrometheus() {
  const chosen = process.env.WAYBRIDGE_PROMETHEUS
  const folders = chosen ? [chosen] : [...(process.env.PATH ?? '').split(delimiter), join(fetchedDir, 'usr/bin')]
  return folders.find((folder) => ['prometheus', 'promtool'].every((name) => existsSync(join(folder, name))))
}

async function fetchPrometheus() {
  const [packages, unpacked] = [join(work, 'packages'), join(work, 'unpacked')]
  mkdirSync(work, { recursive: true })
  try {
    await unpackPackages(['prometheus'], { packages, unpacked, lists: [] }).catch(async () =>
      unpackPackages(['prometheus'], { packages, unpacked, lists: await updatedLists(work) }),
    )
    rmSync(fetchedDir, { recursive: true, force: true })
    renameSync(unpacked, fetchedDir)
  } catch {
    // Below it says that there is none.
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !findPrometheus()) {
  if (hasApt()) {
    process.stderr.write('Downloading Prometheus for the tests of its rules …\n')
    await withLock(fetchPrometheus)
  }
  if (!findPrometheus())
    process.stderr.write(
      'The tests with Prometheus are skipped: install prometheus, or name its folder in WAYBRIDGE_PROMETHEUS.\n',
    )
}
