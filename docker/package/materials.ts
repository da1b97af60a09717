import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT, type ShippedPackage, shippedPackages } from './shipped.ts'

/** The part of a CycloneDX document that is used here. */
interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

interface Component {
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version?: string
  readonly licenses: readonly object[]
}

/** The list of all that the package consists of and needs, as CycloneDX. @throws Error where npm cannot list the packages. */
export async function materials(): Promise<BillOfMaterials> {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 1 << 26 })
  const all = JSON.parse(stdout) as BillOfMaterials
  const shipped = new Set(shippedPackages().map(({ name, version }) => `${name}@${version}`))
  const components = all.components.filter(({ name, version }) => shipped.has(`${name}@${version}`))
  const refs = new Set([all.metadata.component['bom-ref'], ...components.map((component) => component['bom-ref'])])
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  return { ...all, components: [...components, ...DATA.map(dataComponent)], dependencies }
}

/** The licence of each shipped package, with the text that it comes with. */
export function licenceTexts(): string {
  const data = DATA.map(({ name, licence, about }) => `${name}, ${licence}\n\n${about}`)
  return [...data, ...shippedPackages().map(licenceOf)].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
}

function licenceOf({ name, version, licence, folder }: ShippedPackage): string {
  const files = existsSync(folder)
    ? readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    : []
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version}, ${licence}`, ...texts].join('\n\n')
}

/** Data in the page that has a licence of its own. */
const DATA = [
  {
    name: 'GeoNames',
    licence: 'CC-BY-4.0',
    about: 'Names, positions and sizes of places: GeoNames, https://www.geonames.org, shortened. CC BY 4.0.',
  },
  {
    name: 'Natural Earth',
    licence: 'CC-PDDC',
    about:
      'Outlines of countries, lakes and rivers: Natural Earth, https://www.naturalearthdata.com. In the public domain.',
  },
] as const

function dataComponent({ name, licence }: (typeof DATA)[number]): Component {
  return { 'bom-ref': name, type: 'data', name, licenses: [{ license: { id: licence } }] }
}
