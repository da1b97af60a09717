import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, libraryPath, unpackPackages, updatedLists } from '../../src/process/setup/apt.mjs'
import { withLock } from '../../src/process/setup/lock.mjs'

/*
 * A Valkey for the tests with Redis: WAYBRIDGE_VALKEY, else the one on PATH, else one that is downloaded, from the release of Debian
 * in WAYBRIDGE_VALKEY_RELEASE. Run as a program, before the tests, it downloads one where there is none. Systems have no package of
 * it, or an old one; so it comes with all its libraries, and runs by the loader of that release.
 */
const isChosen = process.env.WAYBRIDGE_VALKEY_RELEASE !== undefined
const release = process.env.WAYBRIDGE_VALKEY_RELEASE ?? 'trixie'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const fetchedDir = fileURLToPath(new URL(`../../node_modules/.cache/waybridge/valkey-${release}`, import.meta.url))
const work = `${fetchedDir}.new`

/** The program; undefined where there is none. */
export function findValkey() {
  const chosen = process.env.WAYBRIDGE_VALKEY
  const onPath = isChosen ? [] : (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const files = chosen ? [chosen] : [...onPath, fetchedDir].map((folder) => join(folder, 'valkey-server'))
  return files.find((file) => existsSync(file))
}

async function fetchValkey() {
  const [packages, unpacked] = [join(work, 'packages'), join(work, 'unpacked')]
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  try {
    const lists = await updatedLists(work, releaseOptions())
    await unpackPackages(['valkey-server', 'valkey-tools'], { packages, unpacked, lists })
    rmSync(fetchedDir, { recursive: true, force: true })
    renameSync(unpacked, fetchedDir)
    writeFileSync(join(fetchedDir, 'valkey-server'), wrapper(), { mode: 0o755 })
  } catch {
    // Below it says that there is none.
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Of apt, for which nothing is installed, so that it names all libraries. */
function releaseOptions() {
  const [sources, status] = [join(work, 'sources.list'), join(work, 'status')]
  writeFileSync(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${release} main\n`)
  writeFileSync(status, '')
  const options = [`Etc::SourceList=${sources}`, 'Etc::SourceParts=/dev/null', `State::status=${status}`]
  return options.flatMap((option) => ['-o', `Dir::${option}`])
}

function wrapper() {
  const files = readdirSync(fetchedDir, { recursive: true, encoding: 'utf8' })
  const loader = files.find((file) => /\bld-linux\S*\.so\.\d+$/.test(file)) ?? ''
  const libraries = libraryPath(fetchedDir).LD_LIBRARY_PATH
  const command = [join(fetchedDir, loader), '--library-path', libraries, join(fetchedDir, 'usr/bin/valkey-server')]
  return `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !findValkey()) {
  if (hasApt() && existsSync(keyring)) {
    process.stderr.write(`Downloading Valkey from Debian ${release} …\n`)
    await withLock(fetchValkey)
  }
  if (!findValkey())
    process.stderr.write('The tests with Valkey are skipped: install valkey-server, or name one in WAYBRIDGE_VALKEY.\n')
}
