import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { lockedPackages } from './support/licences.ts'
import { ROOT } from './support/structure/sources.ts'

/** Licences that the unpublished product may contain. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT OR Apache-2.0',
])
/** Further licences that building and testing may use. */
const ALLOWED_IN_DEVELOPMENT = new Set([...ALLOWED, '(MIT OR Apache-2.0)', 'MPL-2.0'])
const ALLOWED_IN_TESTS = new Set([...ALLOWED, '(MIT OR CC0-1.0)', 'Python-2.0'])

const packages = lockedPackages()
/** Packages that a test installs. */
const ofTests = lockedPackages('test/support/openapi-client/package-lock.json')

it('the lock file has the SHA-512 of every package, and only packages of the registry', () => {
  expect(packages.length).toBeGreaterThan(200)
  expect([...packages, ...ofTests].filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
  expect([...packages, ...ofTests].filter(({ resolved }) => resolved !== undefined)).toEqual([])
})

it('every package has an allowed licence', () => {
  const others = packages.filter(({ licence, isDev }) => !(isDev ? ALLOWED_IN_DEVELOPMENT : ALLOWED).has(licence))
  expect(others.map(({ name, licence }) => [name, licence])).toEqual([])
  const inTests = ofTests.filter(({ licence }) => !ALLOWED_IN_TESTS.has(licence))
  expect(inTests.map(({ name, licence }) => [name, licence])).toEqual([])
})

it('npm lists every package of the lock file as CycloneDX, with its hash', () => {
  const args = ['run', '--silent', 'sbom']
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: Component[] }
  expect(bomFormat).toBe('CycloneDX')
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
  expect(packages.filter(({ name, version }) => !listed.has(`${name}@${version}`))).toEqual([])
  expect(components.filter(({ hashes }) => !hashes?.length)).toEqual([])
})

interface Component {
  readonly name: string
  readonly version: string
  readonly hashes?: readonly unknown[]
}
