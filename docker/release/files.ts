import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { releasedVersion, sectionOf } from './version.ts'

/**
 * Makes the files of a release in a folder: the packages of npm and Debian, the chart, the list of materials, the notes, and the SHA-256
 * of each. Returns their paths in it. Without helm on PATH the chart is left out, and that is said.
 */
export function makeFiles(root: string, folder: string): string[] {
  mkdirSync(join(folder, 'chart'), { recursive: true })
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const version = releasedVersion(readFileSync(join(root, 'package.json'), 'utf8'))
  run('npm', 'pack', '--silent', '--pack-destination', folder)
  run('npm', 'run', '--silent', 'deb', '--', folder)
  if (spawnSync('helm', ['version']).status === 0)
    run('helm', 'package', 'docker/helm/waybridge', '--destination', join(folder, 'chart'))
  else process.stderr.write('There is no helm on PATH: the chart is left out\n')
  renameSync(join(root, 'dist/sbom.cdx.json'), join(folder, 'sbom.cdx.json'))
  const notes = sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section [${version}]`)
  writeFileSync(join(folder, 'notes.md'), `${notes}\n`)
  const files = globSync('**/*.*', { cwd: folder }).toSorted()
  const sums = files.map((file) => `${hash('sha256', readFileSync(join(folder, file)))}  ${file}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return [...files, 'SHA256SUMS']
}
