import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type DeviceFile, readDevices } from './devices.ts'
import { fleetMistakes } from './fleet.ts'
import { type Gateway, readGateway } from './gateway.ts'
import { type ConfigError, type Problem, problemsIn, type Source } from './problem.ts'
import { type RouteFile, readRoutes } from './routes.ts'
import type { Protocols } from './schema.ts'
import { fingerprintOf, ifThere, textOf, unreadable } from './text-file.ts'

/** The files of a configuration directory, each read by itself. */
export interface Files {
  readonly gateway: Read<Gateway>
  /** devices.yaml and devices.csv, those that exist. */
  readonly devices: readonly Read<DeviceFile>[]
  /** routes.csv and routes/*.csv, those that exist. */
  readonly routes: readonly Read<RouteFile>[]
}

/** A file and what it says. */
export interface Read<Content> {
  readonly source: Source
  readonly content: Content
}

/** How files are read. */
export interface ReadOptions {
  readonly protocols: Protocols
  /** Of local times in routes files; gateway.yaml's own where it is not given. */
  readonly zone?: string
  /** Files whose text is still the same are taken from here. */
  readonly previous?: Files
  /** Reads gateway.yaml alone. */
  readonly gatewayOnly?: boolean
}

/**
 * Reads every file that there is; a gateway.yaml that does not exist is an empty one.
 * @throws ConfigError where the directory does not exist or a file cannot be read
 */
export async function readFiles(dir: string, options: ReadOptions): Promise<Files> {
  if (!(await stat(dir).catch(() => undefined))?.isDirectory()) throw unreadable(dir, 'there is no such directory')
  const names = options.gatewayOnly ? [GATEWAY] : await fileNames(dir)
  const texts = await Promise.all(names.map(async (name) => [name, await textOf(join(dir, name))] as const))
  return filesOf(dir, new Map(texts.filter((entry): entry is [string, string] => entry[1] !== undefined)), options)
}

/** What the files of a configuration directory say whose texts these are, by their names. */
export async function filesOf(
  dir: string,
  texts: ReadonlyMap<string, string>,
  { protocols, zone, previous }: ReadOptions,
): Promise<Files> {
  const sources = Array.from(texts, ([name, text]): Source => ({ name, file: join(dir, name), text }))
  const gatewaySource = { name: GATEWAY, file: join(dir, GATEWAY), text: texts.get(GATEWAY) ?? '' }
  const gateway = await reuse(gatewaySource, previous && [previous.gateway], ({ text }) => readGateway(text, protocols))
  const devices = sources.filter(({ name }) => DEVICES.includes(name))
  const routes = sources.filter(({ name }) => name !== GATEWAY && !DEVICES.includes(name))
  const routeZone = zone ?? gateway.content.config?.time_zone ?? 'UTC'
  return {
    gateway,
    devices: await Promise.all(devices.map((source) => reuse(source, previous?.devices, readDevices))),
    routes: await Promise.all(
      routes.map((source) => reuse(source, previous?.routes, (same) => readRoutes(same, routeZone))),
    ),
  }
}

/** Whether two states of a configuration are of the very same files, read once. */
export function isSame(a: Files, b: Files): boolean {
  const [all, others] = [a, b].map(({ gateway, devices, routes }) => [gateway, ...devices, ...routes])
  return all.length === others.length && all.every((file, index) => file === others[index])
}

/** What is wrong with gateway.yaml. */
export function gatewayProblems({ gateway }: Files): Problem[] {
  return problemsIn(gateway.source, gateway.content.mistakes)
}

/** What is wrong with the devices' files, by themselves and together. */
export async function deviceProblems({ gateway, devices }: Files): Promise<Problem[]> {
  const contents = devices.map(({ content }) => content)
  const beside = await fleetMistakes(contents, gateway.content.companyIds)
  return devices.flatMap(({ source, content }, index) => problemsIn(source, [...content.mistakes, ...beside[index]]))
}

/** What is wrong with the routes' files by themselves. */
export function routeProblems({ routes }: Files): Problem[] {
  return routes.flatMap(({ source, content }) => problemsIn(source, content.mistakes))
}

/** Whether a problem keeps its file from taking effect. */
export function isMistake({ severity }: Problem): boolean {
  return severity === 'mistake'
}

/** Changes whenever a file may have changed: also one that is replaced by rename, or behind a link that now leads elsewhere. */
export async function fingerprint(dir: string, gatewayOnly = false): Promise<string> {
  const names = gatewayOnly ? [GATEWAY] : await fileNames(dir).catch((error: ConfigError) => [error.message])
  return (await Promise.all(names.map((name) => fingerprintOf(join(dir, name))))).join('\n')
}

const GATEWAY = 'gateway.yaml'
const DEVICES = ['devices.yaml', 'devices.csv']
const ROUTES = 'routes.csv'

/** gateway.yaml first; the files of routes/ in the order of their names. @throws ConfigError where it cannot be read. */
async function fileNames(dir: string): Promise<string[]> {
  const folder = join(dir, 'routes')
  const inFolder = (await ifThere(readdir(folder), folder)) ?? []
  const routes = inFolder.filter((name) => name.endsWith('.csv') && !name.startsWith('.')).toSorted()
  return [GATEWAY, ...DEVICES, ROUTES, ...routes.map((name) => `routes/${name}`)]
}

async function reuse<Content>(
  source: Source,
  previous: readonly Read<Content>[] | undefined,
  read: (source: Source) => Content | Promise<Content>,
): Promise<Read<Content>> {
  const same = previous?.find((file) => file.source.name === source.name && file.source.text === source.text)
  return same ?? { source, content: await read(source) }
}
