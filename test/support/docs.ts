import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { loadProtocols, protocolPorts } from '../../protocols/index.ts'
import { protocolsWithSetup } from '../../protocols/setups.ts'
import type { Protocol } from '../../protocols/kit/index.ts'
import { protocolRows } from '../../src/cli/protocols.ts'
import { DEVICE } from '../../src/config/devices.ts'
import { ROUTE_COLUMNS } from '../../src/config/routes.ts'
import { configSchema } from '../../src/config/schema.ts'
import { TRACKING } from '../../src/config/tracking.ts'
import { registry } from '../../src/observe/metrics.ts'
import { operationGauges } from '../../src/observe/operation-gauges.ts'
import { configKeys } from './config-keys.ts'
import { casesOf } from './protocol-cases.ts'
import { ROOT } from './structure/sources.ts'

/** What fills the regions `<!-- generated: NAME -->` … `<!-- end -->` of Markdown files. */
const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  protocols: protocolTable,
  metrics: metricTable,
  devices: () => meaningTable('Key', descriptions(DEVICE.shape)),
  routes: () => meaningTable('Column', ROUTE_COLUMNS),
  'gateway.yaml': () => keyTable(configSchema(protocolPorts)),
  'tracking.yaml': () => keyTable(TRACKING),
}

/** A Markdown file with generated regions: its text now, and with every region as the code has it. */
export interface Document {
  readonly path: string
  readonly now: string
  readonly wanted: string
}

/** Every Markdown file with a generated region. @throws Error where a region's name is unknown. */
export async function documents(): Promise<Document[]> {
  const texts = new Map<string, string>()
  for (const [name, make] of Object.entries(GENERATED)) texts.set(name, await make())
  return globSync('{*.md,{config,docker,protocols,src,test}/**/*.md}', { cwd: ROOT }).flatMap((path) => {
    const now = readFileSync(join(ROOT, path), 'utf8')
    const wanted = now.replaceAll(REGION, (_, begin: string, name: string, end: string) => {
      const text = texts.get(name)
      if (text === undefined)
        throw new Error(`${path}: nothing generates "${name}": use ${[...texts.keys()].join(', ')}`)
      return `${begin}\n${text}\n${end}`
    })
    return now.search(REGION) >= 0 ? [{ path, now, wanted }] : []
  })
}

const REGION = /(<!-- generated: (\S+) -->)[\s\S]*?(<!-- end -->)/g

async function protocolTable(): Promise<string> {
  const protocols = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))
  const rows: string[][] = []
  for (const [name, ports, , devices] of await protocolRows()) {
    const { acknowledges = 'nothing', integrity } = protocols.get(name) as Protocol
    const accuracy = await accuracyOf(name)
    const has = [
      ...(integrity && 'checksum' in integrity ? ['checksum'] : []),
      ...(accuracy === undefined ? [] : [accuracy]),
      ...(protocolsWithSetup.includes(name) ? ['set-up'] : []),
    ]
    const usual = ports.replace(', mqtt 1883', '').replace(/tcp (\d+), udp \1/, 'tcp, udp $1')
    rows.push([`\`${name}\``, devices.replace(/ trackers$/, ''), usual, ANSWERS[acknowledges], has.join(', ')])
  }
  return table(['Name', 'Devices', 'Usual ports', 'Answers', 'Has'], rows)
}

const ANSWERS = { fixes: 'all', some: 'some', nothing: 'no' } as const

/** What the fixes in a protocol's own frames say of their error. */
async function accuracyOf(name: string): Promise<string | undefined> {
  const fixes = (await casesOf(name)).frames.flatMap(({ frames }) => frames.flatMap((each) => each.fixes ?? []))
  if (fixes.some(({ accuracy }) => accuracy !== undefined)) return 'metres'
  return fixes.some(({ hdop }) => hdop !== undefined) ? 'HDOP' : undefined
}

async function metricTable(): Promise<string> {
  const { unregister } = operationGauges(async () => {})
  const described = registry.getMetricsAsArray().map((metric) => metric as unknown as DescribedMetric)
  unregister()
  const rows = described
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, labelNames, help }) => [`\`${name}\``, labelNames.map((label) => `\`${label}\``).join(', '), help])
  return table(['Name', 'Labels', 'Meaning'], rows)
}

/** What prom-client keeps of a metric; its types do not say so. */
interface DescribedMetric {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

function keyTable(schema: z.core.$ZodType): string {
  const rows = configKeys(schema).map(({ key, usual, isRequired, description }) => {
    const text = usual === undefined ? (isRequired ? 'required' : '') : `\`${usual}\``
    return [`\`${key}\``, text, description]
  })
  return table(['Key', 'Default', 'Meaning'], rows)
}

function descriptions(shape: Readonly<Record<string, z.ZodType>>): Record<string, string> {
  return Object.fromEntries(Object.entries(shape).map(([key, { description = '' }]) => [key, description]))
}

function meaningTable(head: string, meanings: Readonly<Record<string, string>>): string {
  return table(
    [head, 'Meaning'],
    Object.entries(meanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(tableLine).join('\n')
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
