import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/*
 * Adds what an image holds beside the package to its list of materials: node docker/system-materials.mjs dist/sbom.cdx.json. That is
 * Node, and each package of Debian, with the licences that its file `copyright` names.
 */
const [file] = process.argv.slice(2)
const bill = JSON.parse(readFileSync(file, 'utf8'))
const rows = execFileSync('dpkg-query', ['--show', '--showformat', '${Package}\t${Version}\t${Architecture}\n'], {
  encoding: 'utf8',
})
const node = {
  'bom-ref': `node@${process.versions.node}`,
  type: 'platform',
  name: 'node',
  version: process.versions.node,
  licenses: [{ license: { id: 'MIT' } }],
}
bill.components.push(node, ...rows.trim().split('\n').map(debianPackage))
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)

/** @param {string} row */
function debianPackage(row) {
  const [name, version, architecture] = row.split('\t')
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
