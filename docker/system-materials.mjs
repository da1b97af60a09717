import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/*
 * Adds Node, and packages of Debian with the licences that their files `copyright` name, to the list of materials of the package:
 * node docker/system-materials.mjs dist/sbom.cdx.json [PACKAGE…]
 */
const [file, ...packages] = process.argv.slice(2)
const bill = JSON.parse(readFileSync(file, 'utf8'))
const node = {
  'bom-ref': `node@${process.versions.node}`,
  type: 'platform',
  name: 'node',
  version: process.versions.node,
  licenses: [{ license: { id: 'MIT' } }],
}
bill.components.push(node, ...packages.map(debianPackage))
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)

/** @param {string} name */
function debianPackage(name) {
  const format = ['--showformat', '${Version}\t${Architecture}\n']
  const [row] = execFileSync('dpkg-query', ['--show', ...format, name], { encoding: 'utf8' }).split('\n')
  const [version, architecture] = row.split('\t')
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`
  return { 'bom-ref': purl, type: 'library', name, version, purl, licenses: licencesOf(name) }
}

/** @param {string} name @returns {{ license: { name: string } }[]} */
function licencesOf(name) {
  const copyright = `/usr/share/doc/${name}/copyright`
  const text = existsSync(copyright) ? readFileSync(copyright, 'utf8') : ''
  const named = new Set(Array.from(text.matchAll(/^License: *(\S.*)$/gm), ([, licence]) => licence.trim()))
  const names = named.size > 0 ? [...named] : [`see ${copyright}`]
  return names.map((each) => ({ license: { name: each } }))
}
