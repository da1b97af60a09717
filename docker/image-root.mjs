import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/*
 * Copies programs of this Debian, with the libraries that they load and the licences of both, into a folder that becomes the root of
 * an image: node docker/image-root.mjs DIR PROGRAM… Prints the names of the packages that they come from.
 */
const [root, ...programs] = process.argv.slice(2)
/** @type {Set<string>} */
const taken = new Set()

mkdirSync(root, { recursive: true })
for (const name of ['bin', 'lib', 'lib64', 'sbin']) if (isLink(`/${name}`)) symlinkSync(`usr/${name}`, join(root, name))
for (const path of programs.map(pathOf)) for (const file of [path, ...librariesOf(path)]) take(file)
for (const file of ['nsswitch.conf', 'os-release', 'passwd', 'group']) place(`/etc/${file}`)
const packages = [...new Set([...taken].flatMap(packageOf))].toSorted()
for (const name of packages) {
  place(`/usr/share/doc/${name}/copyright`)
  // Where scanners look for packages in an image without dpkg.
  write(`/var/lib/dpkg/status.d/${name}`, output('dpkg-query', '--status', name))
}
cpSync('/usr/share/common-licenses', join(root, 'usr/share/common-licenses'), { recursive: true, dereference: true })
write('/usr/share/doc/node/copyright', output('cat', '/usr/local/LICENSE'))
process.stdout.write(`${packages.join('\n')}\n`)

/** @param {string} program */
function pathOf(program) {
  return output('sh', '-c', `command -v ${program}`).trim()
}

/** @param {string} path @returns {string[]} */
function librariesOf(path) {
  return Array.from(output('ldd', path).matchAll(/(?:=> |^\s+)(\/\S+)/gm), ([, library]) => library)
}

/** Copies a file, or a link with the file that it leads to. @param {string} path */
function take(path) {
  const file = join(realpathSync(dirname(path)), basename(path))
  if (taken.has(file)) return
  taken.add(file)
  if (!isLink(file)) return place(file)
  mkdirSync(dirname(join(root, file)), { recursive: true })
  symlinkSync(readlinkSync(file), join(root, file))
  take(resolve(dirname(file), readlinkSync(file)))
}

/** @param {string} path */
function place(path) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  copyFileSync(realpathSync(path), join(root, path))
}

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** The Debian package of a file, which may know the file by its path without /usr; none of what the base image adds. @param {string} file */
function packageOf(file) {
  if (file.startsWith('/usr/local/')) return []
  for (const known of [file, file.replace(/^\/usr/, '')]) {
    const { status, stdout } = spawnSync('dpkg-query', ['--search', known], { encoding: 'utf8' })
    const owner = /^([^\s:,]+)(?::\w+)?: /m.exec(stdout)
    if (status === 0 && owner) return [owner[1]]
  }
  // A link that is made by a script of its package: what it leads to is taken too.
  if (isLink(file)) return []
  throw new Error(`${file} is of no package`)
}

/** @param {string} path */
function isLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** @param {string} command @param {string[]} args */
function output(command, ...args) {
  return execFileSync(command, args, { encoding: 'utf8' })
}
