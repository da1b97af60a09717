import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, libraryPath } from '../../src/process/setup/apt.mjs'
import { fetchPackages, fetchUnlessFound, onPath, unpackedDir } from './debian-program.mjs'

/*
 * A Valkey for the tests with Redis: WAYBRIDGE_VALKEY, else the one on PATH, else one that is downloaded, from the release of Debian
 * in WAYBRIDGE_VALKEY_RELEASE. Run as a program, before the tests, it downloads one where there is none. Systems have no package of
 * it, or an old one; so it comes with all its libraries, and runs by the loader of that release.
 */
const isChosen = process.env.WAYBRIDGE_VALKEY_RELEASE !== undefined
const release = process.env.WAYBRIDGE_VALKEY_RELEASE ?? 'trixie'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const dir = unpackedDir(`valkey-${release}`)

/** The program; undefined if there is none. */
export function findValkey() {
  const unpacked = join(dir, 'valkey-server')
  const file = process.env.WAYBRIDGE_VALKEY || (isChosen ? undefined : onPath('valkey-server')) || unpacked
  return existsSync(file) ? file : undefined
}

async function fetchValkey() {
  await fetchPackages(['valkey-server', 'valkey-tools'], dir, releaseOptions)
  if (existsSync(dir)) writeFileSync(join(dir, 'valkey-server'), wrapper(), { mode: 0o755 })
}

/**
 * Of apt, for which nothing is installed, so that it names all libraries.
 * @param {string} work
 */
function releaseOptions(work) {
  const [sources, status] = [join(work, 'sources.list'), join(work, 'status')]
  writeFileSync(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian ${release} main\n`)
  writeFileSync(status, '')
  const options = [`Etc::SourceList=${sources}`, 'Etc::SourceParts=/dev/null', `State::status=${status}`]
  return options.flatMap((option) => ['-o', `Dir::${option}`])
}

function wrapper() {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const loader = files.find((file) => /\bld-linux\S*\.so\.\d+$/.test(file)) ?? ''
  const libraries = libraryPath(dir).LD_LIBRARY_PATH
  const command = [join(dir, loader), '--library-path', libraries, join(dir, 'usr/bin/valkey-server')]
  return `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await fetchUnlessFound({
    find: findValkey,
    fetch: fetchValkey,
    canFetch: hasApt() && existsSync(keyring),
    what: `Valkey from Debian ${release}`,
    skipped: 'The tests with Valkey are skipped: install valkey-server, or name one in WAYBRIDGE_VALKEY.',
  })
