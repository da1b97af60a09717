import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { int64 } from '../domain/units.ts'
import { addressAt, companyIds, mistakeAt, portConflicts, readDocument, repeatedValues } from './document.ts'
import { address, fields, headerToken, id, list, logging, section, text, timer } from './leaves.ts'
import { child, itemsAt, type Node, textAt } from './node.ts'
import { ConfigError, type Mistake, type Problem, problemsIn } from './problem.ts'
import { defaultConfig } from './schema.ts'
import { fingerprintOf, follow, readTextFile } from './text-file.ts'

/** tracking.yaml, validated: durations in ms, ids as canonical digits. */
export type TrackingConfig = z.output<typeof TRACKING>

export interface TrackingRead {
  /** Absent if there are problems. */
  readonly config?: TrackingConfig
  readonly problems: readonly Problem[]
}

/** The path of the configuration of a tracking service that runs on its own. */
export function trackingFile(dir: string): string {
  return join(dir, NAME)
}

/** Reads tracking.yaml; undefined if it does not exist. @throws ConfigError with all mistakes at once. */
export async function loadTracking(dir: string): Promise<TrackingConfig | undefined> {
  const read = await readTracking(dir)
  if (read && !read.config) throw new ConfigError(read.problems)
  return read?.config
}

/** Reads tracking.yaml; undefined if there is no such file. @throws ConfigError if it cannot be read. */
export async function readTracking(dir: string): Promise<TrackingRead | undefined> {
  const file = trackingFile(dir)
  const content = await readTextFile(file)
  if (content === undefined) return undefined
  const { value, mistakes } = readDocument(content, TRACKING, mistakesBeyond)
  return { config: value, problems: problemsIn({ name: NAME, file, text: content }, mistakes) }
}

/**
 * Follows tracking.yaml: calls `onChange` within half a second when the meaning of the file has changed, with `config`
 * only if it has no mistakes. `start` is the configuration in effect.
 */
export function followTracking(
  dir: string,
  start: TrackingConfig,
  onChange: (change: TrackingRead) => void,
): { close(): Promise<void> } {
  let last: TrackingRead = { config: start, problems: [] }

  function take(read: TrackingRead): void {
    if (isDeepStrictEqual(read, last)) return
    last = read
    onChange(read)
  }

  const file = trackingFile(dir)
  return follow(
    () => fingerprintOf(file),
    async () => {
      try {
        take((await readTracking(dir)) ?? { problems: [{ severity: 'mistake', file, message: FILE_MISSING }] })
        return true
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        take({ problems: error.mistakes })
        return false
      }
    },
  )
}

const FILE_MISSING = 'this file does not exist any more: its last content stays in effect'

const NAME = 'tracking.yaml'
const {
  tracking: { listen: LISTEN },
  monitor: MONITOR,
} = defaultConfig(null)

/** The schema of tracking.yaml. */
export const TRACKING = section({
  listen: section(address(LISTEN.host, LISTEN.port)).describe('Address of the tracking service.'),
  data_dir: text.prefault('.data').describe('Folder of its database.'),
  time_limit: timer(1).prefault('60s').describe('Maximum time of reading positions; then 504.'),
  companies: list(
    fields({
      company_id: id.describe('Id of the company.'),
      apikeys: list(text).describe('Keys that may push positions.'),
      oauth_tokens: list(headerToken).describe('Tokens that may call all other operations.'),
    }),
  ).describe('Companies that the service knows.'),
  routes: list(
    fields({
      route_id: id.describe('Id of the route.'),
      courier_id: id.describe('Id of its courier.'),
      company_id: id.describe('Id of its company.'),
    }),
  ).describe('Routes that the service knows.'),
  monitor: section(address(MONITOR.host, MONITOR.port)).describe('Metrics and readiness.'),
  log: logging(),
})

function mistakesBeyond(root: Node): Mistake[] {
  const { ids, repeated } = companyIds(root)
  const addresses = [addressAt(root, ['listen'], LISTEN), addressAt(root, ['monitor'], MONITOR)]
  return [...portConflicts(addresses), ...repeated, ...sharedApikeys(root), ...routeMistakes(root, ids)]
}

/**
 * Apikeys that two companies share: a push with one could belong to either. An OAuth token may be for several companies.
 */
function sharedApikeys(root: Node): Mistake[] {
  const values = itemsAt(root, 'companies').flatMap((company, index) => {
    const apikeys = itemsAt(company, 'apikeys').map((_, at) => textAt(child(company, 'apikeys'), at))
    const different = [...apikeys.entries()].filter(([at, value]) => apikeys.indexOf(value) === at)
    return different.map(([at, value]) => ({ value, path: ['companies', index, 'apikeys', at] }))
  })
  return repeatedValues(root, values, ([, company]) => `companies[${company}] has the same apikey`)
}

/** Routes of unknown companies, and routes that are listed twice. */
function routeMistakes(root: Node, companies: ReadonlySet<string>): Mistake[] {
  const routes = itemsAt(root, 'routes').map((route, index) => {
    const ids = ['company_id', 'courier_id', 'route_id'].map((key) => int64(textAt(route, key) ?? ''))
    return { company: ids[0], value: ids.includes(undefined) ? undefined : ids.join('/'), path: ['routes', index] }
  })
  const unknown = routes.filter(({ company }) => company !== undefined && !companies.has(company))
  return [
    ...unknown.map(({ company, path }) =>
      mistakeAt(root, [...path, 'company_id'], `company ${company} is not in companies`),
    ),
    ...repeatedValues(root, routes, ([, first]) => `repeats routes[${first}]`),
  ]
}
