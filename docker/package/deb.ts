import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './shipped.ts'

/*
 * Makes the package for Debian and Ubuntu: `npm run deb`, or node docker/package/deb.ts DIR. It holds what `npm pack` makes, and the
 * Node that runs this. Prints the name of the file.
 */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const DEBIAN = join(import.meta.dirname, 'debian')
const PROGRAM = 'usr/lib/waybridge'
const COMMAND = `#!/bin/sh\nexec /${PROGRAM}/bin/node /${PROGRAM}/src/cli/waybridge.mjs "$@"\n`

const run = promisify(execFile)
const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>
const architecture = ARCHITECTURES[process.arch]
if (!architecture)
  throw new Error(`no package for ${process.arch}: build it on ${Object.keys(ARCHITECTURES).join(', ')}`)
const file = resolve(process.argv[2] ?? '.', `waybridge_${version}_${architecture}.deb`)
const work = mkdtempSync(join(tmpdir(), 'waybridge-deb-'))
try {
  const tree = join(work, 'tree')
  await unpackProgram(join(tree, PROGRAM))
  place(tree)
  writeFileSync(join(tree, 'DEBIAN/control'), await control(tree))
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, file])
  process.stdout.write(`${file}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Unpacks what `npm pack` makes, with Node beside it. */
async function unpackProgram(folder: string): Promise<void> {
  await run('npm', ['pack', '--pack-destination', work], { cwd: ROOT, maxBuffer: 1 << 26 })
  mkdirSync(folder, { recursive: true })
  await run('tar', ['-xzf', join(work, `waybridge-${version}.tgz`), '--strip-components=1', '-C', folder])
  mkdirSync(join(folder, 'bin'))
  cpSync(process.execPath, join(folder, 'bin/node'))
  await run(process.execPath, [join(ROOT, 'docker/system-materials.mjs'), join(folder, 'dist/sbom.cdx.json')])
}

/** Puts the command, the units, the user and the scripts of the package to their places. */
function place(tree: string): void {
  const units = join(ROOT, 'docker/systemd')
  const unit = readFileSync(join(units, 'waybridge.service'), 'utf8').replaceAll('/usr/local/bin/', '/usr/bin/')
  const files = {
    'usr/bin/waybridge': COMMAND,
    'usr/lib/systemd/system/waybridge.service': unit.replaceAll('/usr/local/lib/node_modules/', '/usr/lib/'),
    'usr/lib/systemd/system/waybridge.socket': readFileSync(join(units, 'waybridge.socket')),
    'usr/lib/sysusers.d/waybridge.conf': readFileSync(join(units, 'sysusers.conf')),
    'usr/share/doc/waybridge/copyright': copyright(join(tree, PROGRAM)),
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(tree, path, '..'), { recursive: true })
    writeFileSync(join(tree, path), content)
  }
  cpSync(DEBIAN, join(tree, 'DEBIAN'), { recursive: true })
  const programs = ['usr/bin/waybridge', ...readdirSync(DEBIAN).map((name) => `DEBIAN/${name}`)]
  for (const path of programs) chmodSync(join(tree, path), 0o755)
}

/** The licences of Node and of all parts of the package. */
function copyright(program: string): string {
  const [ofNode] = globSync(join(ROOT, 'node_modules/node/node_modules/node-linux-*/LICENSE'))
  return [ofNode, join(program, 'dist/LICENCES.txt')].map((path) => readFileSync(path, 'utf8')).join('\n\n')
}

async function control(tree: string): Promise<string> {
  const { stdout } = await run('du', ['-sk', join(tree, 'usr')])
  const fields = {
    Package: 'waybridge',
    // `~` is before nothing: 0.2.0~dev is older than 0.2.0.
    Version: version.replace('-', '~'),
    Architecture: architecture,
    // Debian wants a field. The owner of a release sets it.
    Maintainer: 'Unset Maintainer <unset@localhost>',
    'Installed-Size': stdout.split('\t')[0],
    Depends:
      'redis-server (>= 5:6.2) | valkey-server, libc6 (>= 2.28), libgcc-s1, libstdc++6, systemd, init-system-helpers',
    Section: 'net',
    Priority: 'optional',
    Description: description,
  }
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}
