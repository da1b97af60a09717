import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { certificateMistakes } from './certificate.ts'
import { type DeviceFile, readDevices } from './devices.ts'
import { mistakeAt } from './document.ts'
import { fleetMistakes, type KnownNames } from './fleet.ts'
import { readGateway } from './gateway.ts'
import { type MappingFile, mappingNames, readMappings } from './mappings.ts'
import { ConfigError, type Mistake, type Problem, problemsIn, type Source } from './problem.ts'
import { type RouteFile, readRoutes } from './routes.ts'
import type { Config, Protocols } from './schema.ts'
import { fingerprintOf, ifThere, readTextFile, unreadable } from './text-file.ts'
import { isTileFile, tileFileMistake } from './tiles.ts'
import { parseYaml } from './yaml.ts'

/** The files of a configuration directory, each read by itself. */
export interface Files {
  readonly gateway: Read<ReturnType<typeof readGateway>>
  /** Changes whenever a file that gateway.yaml takes a value from (`${file:/path}`) may have changed, or the names of mappings. */
  readonly references?: string
  /** mappings.yaml; empty if it does not exist, or this process does not read it. */
  readonly mappings: Read<MappingFile>
  /** Names that devices may refer to, from the last gateway.yaml without mistakes. */
  readonly known: KnownNames
  /** devices.yaml and devices.csv, if they exist. */
  readonly devices: readonly Read<DeviceFile>[]
  /** routes.csv and routes/*.csv, if they exist. */
  readonly routes: readonly Read<RouteFile>[]
}

/** A file, its content, and its mistakes, including conflicts with other files, such as an id that occurs in two of them. */
export interface Read<Content> {
  readonly source: Source
  readonly content: Content
  readonly problems: readonly Problem[]
}

export interface ReadOptions {
  readonly protocols: Protocols
  /** The zone of local times in routes files; default: `time_zone` of gateway.yaml. */
  readonly zone?: string
  /** The text of gateway.yaml to use if the file is gone or has mistakes. */
  readonly before?: string
  /** Files whose text has not changed are reused from here. */
  readonly previous?: Files
  /** Reads gateway.yaml alone, and mappings.yaml. */
  readonly gatewayOnly?: boolean
}

/**
 * Reads all files that exist; a missing gateway.yaml counts as empty. @throws ConfigError if the directory does not exist, a
 * file cannot be read, or a gateway.yaml that had content is gone or empty, as while another program replaces it
 */
export async function readFiles(dir: string, options: ReadOptions): Promise<Files> {
  if (!(await stat(dir).catch(() => undefined))?.isDirectory())
    throw unreadable(dir, `there is no such directory: \`waybridge init ${dir}\` makes one`)
  const names = options.gatewayOnly ? [GATEWAY, MAPPINGS] : await fileNames(dir)
  const read = await Promise.all(names.map(async (name) => [name, await readTextFile(join(dir, name))] as const))
  const texts = new Map(read.filter((entry): entry is [string, string] => entry[1] !== undefined))
  if (options.previous?.gateway.source.text && !texts.get(GATEWAY)) throw unreadable(join(dir, GATEWAY), GONE)
  const files = await filesOf(dir, texts, options)
  const isUsable = texts.get(GATEWAY) && files.gateway.content.config
  return options.before === undefined || isUsable ? files : filesOf(dir, texts.set(GATEWAY, options.before), options)
}

/** Reads the configuration in a directory; files that do not exist are defaults, or empty. @throws ConfigError with all mistakes. */
export async function loadConfig(dir: string, protocols: Protocols) {
  const { config, files, problems } = await readAll(dir, protocols)
  if (!config) throw new ConfigError(problems.filter(isMistake))
  return { config, files }
}

/** Reads gateway.yaml alone: mistakes in the other files do not matter, nor do protocols. @throws ConfigError with all mistakes. */
export async function loadGateway(dir: string): Promise<Config> {
  const { content, problems } = (await readFiles(dir, { protocols: null, gatewayOnly: true })).gateway
  if (!content.config) throw new ConfigError(problems.filter(isMistake))
  return content.config
}

/** Reads the files of a directory, and finds their mistakes; resolves to the configuration if they have none. */
export async function readAll(dir: string, protocols: Protocols) {
  const files = await readFiles(dir, { protocols })
  const problems = [...problemsOf(files), ...certificateProblems(files)]
  return { files, problems, config: problems.some(isMistake) ? undefined : files.gateway.content.config }
}

/** Reads the files of a configuration directory from their texts, by their names. */
export async function filesOf(
  dir: string,
  texts: ReadonlyMap<string, string>,
  { protocols, zone, previous }: ReadOptions,
): Promise<Files> {
  const sources = Array.from(texts, ([name, text]): Source => ({ name, file: join(dir, name), text }))
  const gatewaySource = { name: GATEWAY, file: join(dir, GATEWAY), text: texts.get(GATEWAY) ?? '' }
  // A process that opens no ports needs no mappings.
  const mappingSource = { name: MAPPINGS, file: join(dir, MAPPINGS), text: (protocols && texts.get(MAPPINGS)) ?? '' }
  const mappings = await reuse(mappingSource, previous && [previous.mappings], readMappings)
  const names = mappingNames(mappings.content.names)
  const references = [await referencesOf(gatewaySource), ...names].join('\n')
  const earlier = previous?.references === references ? [previous.gateway] : undefined
  const all = protocols && [...protocols, ...names.map((name) => ({ name, http: 0 }))]
  const gateway = await reuse(gatewaySource, earlier, ({ text }) => readGateway(text, all, dir))
  const known = gateway.content.config ? gateway.content : (previous?.known ?? gateway.content)
  const devices = sources.filter(({ name }) => DEVICES.includes(name))
  const routes = sources.filter(({ name }) => ![GATEWAY, MAPPINGS, ...DEVICES].includes(name))
  const routeZone = zone ?? gateway.content.config?.time_zone ?? 'UTC'
  return {
    gateway,
    references,
    mappings,
    known,
    devices: await readAllDevices(devices, known, previous),
    routes: await Promise.all(
      routes.map((source) => reuse(source, previous?.routes, (same) => readRoutes(same, routeZone))),
    ),
  }
}

/** Only the files of devices of a directory; `print` changes whenever one of them may have changed. */
export interface DeviceFiles {
  readonly print: string
  readonly files: readonly DeviceFile[]
}

/** Reads the files of devices of a directory, unless they are unchanged. @throws ConfigError if one cannot be read. */
export async function readDeviceFiles(dir: string, previous?: DeviceFiles): Promise<DeviceFiles> {
  const sources = DEVICES.map((name) => ({ name, file: join(dir, name) }))
  const print = (await Promise.all(sources.map(({ file }) => fingerprintOf(file)))).join('\n')
  if (print === previous?.print) return previous
  const texts = await Promise.all(sources.map(({ file }) => readTextFile(file)))
  return {
    print,
    files: await Promise.all(sources.map((each, index) => readDevices({ ...each, text: texts[index] ?? '' }))),
  }
}

/** Returns whether two readings hold the same objects for all files. A file whose text has not changed keeps its object. */
export function isSame(a: Files, b: Files): boolean {
  const [all, others] = [a, b].map(({ gateway, mappings, devices, routes }) => [
    gateway,
    mappings,
    ...devices,
    ...routes,
  ])
  return all.length === others.length && all.every((file, index) => file === others[index])
}

/** The certificates of gateway.yaml that cannot be used. Only processes that use them need the right to read them. */
function certificateProblems({ gateway: { source, content } }: Files): Problem[] {
  const { root } = parseYaml(source.text)
  if (!content.config || !root) return []
  const mistakes = certificateMistakes(content.config).map(({ path, message }) => mistakeAt(root, path, message))
  return problemsIn(source, mistakes)
}

/** Resolves to the problems of the tile file that gateway.yaml names. A start does not need the file. */
export async function tileFileProblems({ gateway: { source, content } }: Files): Promise<Problem[]> {
  const { root } = parseYaml(source.text)
  const tiles = content.config?.page.tiles ?? null
  const message = isTileFile(tiles) ? await tileFileMistake(tiles) : undefined
  if (!root || message === undefined) return []
  return problemsIn(source, [{ ...mistakeAt(root, ['page', 'tiles'], message), severity: 'weak' }])
}

/** Returns warnings about settings of gateway.yaml that cannot have an effect. */
export function vainSettings({ gateway: { source, content } }: Files): Problem[] {
  const { root } = parseYaml(source.text)
  const { config } = content
  const isInVain = config?.keep.delivered === 0 && config.verify.share > 0
  if (!root || !isInVain) return []
  const mistake = mistakeAt(root, ['keep', 'delivered'], NOTHING_KEPT)
  return problemsIn(source, [{ ...mistake, severity: 'warning' }])
}

export function problemsOf({ gateway, mappings, devices, routes }: Files): Problem[] {
  return [gateway, mappings, ...devices, ...routes].flatMap(({ problems }) => problems)
}

/** Whether a problem prevents its file from taking effect. */
export function isMistake({ severity }: Problem): boolean {
  return severity === 'mistake'
}

/**
 * Resolves to a text that changes whenever a file of `dir`, or a file that gateway.yaml referred to when it was last read,
 * may have changed; also by a rename, and when the target of a link changes.
 */
export async function fingerprint(dir: string, { gateway }: Files, gatewayOnly = false): Promise<string> {
  const names = gatewayOnly ? [GATEWAY, MAPPINGS] : await fileNames(dir).catch((error: ConfigError) => [error.message])
  const prints = [...names.map((name) => fingerprintOf(join(dir, name))), referencesOf(gateway.source)]
  return (await Promise.all(prints)).join('\n')
}

async function referencesOf({ text }: Source): Promise<string> {
  const paths = Array.from(text.matchAll(/\$\{file:([^}]*)\}/g), ([, path]) => path)
  return (await Promise.all(paths.map((path) => fingerprintOf(path)))).join('\n')
}

const GATEWAY = 'gateway.yaml'
const MAPPINGS = 'mappings.yaml'
const GONE = 'this file is gone or empty: its last content stays in effect'
const NOTHING_KEPT = 'nothing is kept, so nothing is verified: keep delivered fixes, or set verify.share to 0'
const DEVICES = ['devices.yaml', 'devices.csv']
const ROUTES = 'routes.csv'

/**
 * Resolves to the names of the files: gateway.yaml first; those of routes/ in alphabetical order. @throws ConfigError if the
 * folder cannot be read.
 */
async function fileNames(dir: string): Promise<string[]> {
  const folder = join(dir, 'routes')
  const inFolder = (await ifThere(readdir(folder), folder)) ?? []
  const routes = inFolder.filter((name) => name.endsWith('.csv') && !name.startsWith('.')).toSorted()
  return [GATEWAY, MAPPINGS, ...DEVICES, ROUTES, ...routes.map((name) => `routes/${name}`)]
}

/** Reads the devices files, which are compared with each other. Their objects stay the same if none has changed. */
async function readAllDevices(
  sources: readonly Source[],
  known: KnownNames,
  previous?: Files,
): Promise<readonly Read<DeviceFile>[]> {
  const all = await Promise.all(sources.map((source) => reuse(source, previous?.devices, readDevices)))
  const isUnchanged = previous && known === previous.known && all.length === previous.devices.length
  if (isUnchanged && all.every((file) => previous.devices.includes(file))) return all
  const mistakes = await fleetMistakes(
    all.map(({ content }) => content),
    known,
  )
  return all.map(({ source, content }, index) => {
    return { source, content, problems: problemsIn(source, [...content.mistakes, ...mistakes[index]]) }
  })
}

async function reuse<Content extends Partial<Record<'mistakes' | 'warnings', readonly Mistake[]>>>(
  source: Source,
  previous: readonly Read<Content>[] | undefined,
  read: (source: Source) => Content | Promise<Content>,
): Promise<Read<Content>> {
  const same = previous?.find((file) => file.source.name === source.name && file.source.text === source.text)
  if (same) return same
  const content = await read(source)
  const { mistakes = [], warnings = [] } = content
  return { source, content, problems: problemsIn(source, [...mistakes, ...warnings]) }
}
