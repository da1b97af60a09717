import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { loadProtocols, protocolPorts } from '../../protocols/index.ts'
import type { Protocol } from '../../protocols/kit/index.ts'
import { protocolsWithSetup } from '../../protocols/setups.ts'
import { table as columns } from '../../src/cli/output.ts'
import { protocolRows } from '../../src/cli/protocols.ts'
import { DEVICE } from '../../src/config/devices.ts'
import { type ConfigKey, configKeysOf } from '../../src/config/config-keys.ts'
import { fields } from '../../src/config/leaves.ts'
import { MAPPING } from '../../src/config/mappings.ts'
import { ROUTE_COLUMNS } from '../../src/config/routes.ts'
import { configSchema } from '../../src/config/schema.ts'
import { TRACKING } from '../../src/config/tracking.ts'
import { registry } from '../../src/observe/metrics.ts'
import { operationGauges } from '../../src/observe/operation-gauges.ts'
import { casesOf } from './protocol-cases.ts'
import { ROOT } from './structure/sources.ts'

/** What fills the regions `<!-- generated: NAME -->` … `<!-- end -->` of Markdown files. */
const REGIONS: Readonly<Record<string, () => string | Promise<string>>> = {
  devices: () => meanings(descriptions(DEVICE.shape)),
  routes: () => meanings(ROUTE_COLUMNS),
}

/** The lines of files that are generated as a whole. */
const FILES: Readonly<Record<string, () => string[] | Promise<string[]>>> = {
  'config/reference.yaml': () => [REFERENCE, ...yamlReference(configSchema(protocolPorts))],
  'config/mappings-reference.yaml': () => [
    MAPPINGS,
    ...yamlReference(fields({ NAME: MAPPING.describe('A mapping.') })),
  ],
  'config/tracking-reference.yaml': () => [TRACKING_KEYS, ...yamlReference(TRACKING)],
  'protocols/protocols.txt': protocolList,
  'src/admin/metrics.txt': metricList,
}

const REFERENCE = '# Every key of gateway.yaml, with its default. `waybridge init DIR` writes a file to begin with.'

const MAPPINGS = '# Every key of mappings.yaml. A path is `$.gps.lat`, or `lat` in an entry of `each`.'
const TRACKING_KEYS = '# Every key of tracking.yaml, with its default.'

/** A file with generated parts: its text now, and as the code has it. */
export interface Document {
  readonly path: string
  readonly now: string
  readonly wanted: string
}

/** Every file with generated parts. @throws Error if the name of a region is unknown. */
export async function documents(): Promise<Document[]> {
  const texts = new Map<string, string>()
  for (const [name, make] of Object.entries(REGIONS)) texts.set(name, await make())
  const markdown = globSync('{*.md,{config,docker,protocols,src,test}/**/*.md}', { cwd: ROOT }).flatMap((path) => {
    const now = readFileSync(join(ROOT, path), 'utf8')
    const wanted = now.replaceAll(REGION, (_, begin: string, name: string, end: string) => {
      const text = texts.get(name)
      if (text === undefined)
        throw new Error(`${path}: nothing generates "${name}": use ${[...texts.keys()].join(', ')}`)
      return `${begin}\n${text}\n${end}`
    })
    return now.search(REGION) >= 0 ? [{ path, now, wanted }] : []
  })
  const whole = Object.entries(FILES).map(async ([path, make]) => ({
    path,
    now: existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '',
    wanted: `${(await make()).join('\n')}\n`,
  }))
  return [...markdown, ...(await Promise.all(whole))]
}

const REGION = /(<!-- generated: (\S+) -->)[\s\S]*?(<!-- end -->)/g

async function protocolList(): Promise<string[]> {
  const protocols = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))
  const rows: string[][] = []
  for (const [name, ports, , devices] of await protocolRows()) {
    const { acknowledges = 'nothing', integrity } = protocols.get(name) as Protocol
    const accuracy = await accuracyOf(name)
    const has = [
      ANSWERS[acknowledges],
      ...(integrity && 'checksum' in integrity ? ['checksum'] : []),
      ...(accuracy === undefined ? [] : [accuracy]),
      ...(protocolsWithSetup.includes(name) ? ['set-up'] : []),
    ]
    const usual = ports.replace(', mqtt 1883', '').replace(/tcp (\d+), udp \1/, 'tcp, udp $1')
    rows.push([name, usual, has.join(', '), devices.replace(/ trackers$/, '')])
  }
  return columns(['name', 'usual ports', 'answers, has', 'devices'], rows)
}

const ANSWERS = { fixes: 'all', some: 'some', nothing: 'none' } as const

/** What the fixes in a protocol's own frames say of their error. */
async function accuracyOf(name: string): Promise<string | undefined> {
  const fixes = (await casesOf(name)).frames.flatMap(({ frames }) => frames.flatMap((each) => each.fixes ?? []))
  if (fixes.some(({ accuracy }) => accuracy !== undefined)) return 'metres'
  return fixes.some(({ hdop }) => hdop !== undefined) ? 'HDOP' : undefined
}

function metricList(): string[] {
  const { unregister } = operationGauges(async () => {})
  const described = registry.getMetricsAsArray().map((metric) => metric as unknown as DescribedMetric)
  unregister()
  return described
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, labelNames, help }) => `${name}${labelNames.length ? `{${labelNames.join()}}` : ''}  ${help}`)
}

/** What prom-client keeps of a metric; its types do not say so. */
interface DescribedMetric {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** Every key of a file as YAML, with its default and its meaning. A mapping that comes again, as `tls`, has its keys once. */
function yamlReference(schema: z.core.$ZodType): string[] {
  const shown = new Set<string>()
  const lines = (key: ConfigKey, indent: string): string[] => {
    const { name, usual, isRequired, description, inner, element } = key
    const below = JSON.stringify(inner ?? element)
    const isAgain = shown.has(below)
    if (below) shown.add(below)
    const opens = below !== undefined && !isAgain
    const value = opens || usual === undefined ? '' : ` ${usual}`
    const notes = [isRequired ? 'Required.' : opens && usual === 'null' ? 'Default: null.' : '', description]
    const meaning = notes.filter(Boolean).join(' ')
    const head = `${indent}${name}:${value}`
    const line = meaning ? `${head.padEnd(WIDTH)} # ${meaning}` : head
    if (!opens) return [line]
    const inside = (each: ConfigKey, index: number) =>
      lines(each, indent + (element && index === 0 ? '  - ' : inner ? '  ' : '    '))
    return [line, ...(inner ?? element ?? []).flatMap(inside)]
  }
  return configKeysOf(schema).flatMap((key) => lines(key, ''))
}

const WIDTH = 32

function descriptions(shape: Readonly<Record<string, z.ZodType>>): Record<string, string> {
  return Object.fromEntries(Object.entries(shape).map(([key, { description = '' }]) => [key, description]))
}

function meanings(all: Readonly<Record<string, string>>): string {
  return Object.entries(all)
    .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
    .join('\n')
}
