import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { addressAt, companyIds, portConflicts, readDocument } from './document.ts'
import { address, fields, headerToken, id, list, logging, section, text, timer } from './leaves.ts'
import { child, itemsAt, type Node, offsetOf, pathText, textAt } from './node.ts'
import { ConfigError, type Mistake, type Problem, problemsIn } from './problem.ts'
import { defaultConfig } from './schema.ts'
import { fingerprintOf, follow, textOf } from './text-file.ts'
import { int64 } from './units.ts'

/** tracking.yaml, validated: durations in ms, ids as canonical digits. */
export type TrackingConfig = z.output<typeof SCHEMA>

/** tracking.yaml as it was read. */
export interface TrackingRead {
  /** Absent where there are problems. */
  readonly config?: TrackingConfig
  /** All mistakes. */
  readonly problems: readonly Problem[]
}

/** Where the file of the tracking service on its own is, in a configuration directory. */
export function trackingFile(dir: string): string {
  return join(dir, NAME)
}

/** What tracking.yaml says; undefined where there is no such file. @throws ConfigError with all mistakes at once. */
export async function loadTracking(dir: string): Promise<TrackingConfig | undefined> {
  const read = await readTracking(dir)
  if (read && !read.config) throw new ConfigError(read.problems)
  return read?.config
}

/** Reads tracking.yaml; undefined where there is no such file. @throws ConfigError where it cannot be read. */
export async function readTracking(dir: string): Promise<TrackingRead | undefined> {
  const file = trackingFile(dir)
  const content = await textOf(file)
  if (content === undefined) return undefined
  const { value, mistakes } = readDocument(content, SCHEMA, mistakesBeside)
  return { config: value, problems: problemsIn({ name: NAME, file, text: content }, mistakes) }
}

/**
 * Follows tracking.yaml: calls `onChange` within half a second of each change of what the file means, with `config` only
 * where there are no mistakes. `start` is the configuration in effect.
 */
export function watchTracking(
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

  return follow({
    print: () => fingerprintOf(trackingFile(dir)),
    changed: async () => {
      try {
        take((await readTracking(dir)) ?? missingFile(dir))
        return true
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        take({ problems: error.mistakes })
        return false
      }
    },
  })
}

function missingFile(dir: string): TrackingRead {
  const message = 'this file is gone: what it said stays in effect'
  return { problems: [{ severity: 'mistake', file: trackingFile(dir), message }] }
}

const NAME = 'tracking.yaml'
const {
  tracking: { listen: LISTEN },
  monitor: MONITOR,
} = defaultConfig(null)

const SCHEMA = section({
  listen: section(address(LISTEN.host, LISTEN.port)),
  data_dir: text().default('.data'),
  time_limit: timer(1).default(60_000),
  companies: list(fields({ company_id: id(), apikeys: list(text()), oauth_tokens: list(headerToken()) })),
  routes: list(fields({ route_id: id(), courier_id: id(), company_id: id() })),
  monitor: section(address(MONITOR.host, MONITOR.port)),
  log: logging(),
})

/** What is wrong with values beside one another. */
function mistakesBeside(root: Node): Mistake[] {
  const { ids, repeated } = companyIds(root)
  return [
    ...portConflicts([
      addressAt(child(root, 'listen'), 'listen', LISTEN),
      addressAt(child(root, 'monitor'), 'monitor', MONITOR),
    ]),
    ...repeated,
    ...sharedApikeys(root),
    ...routeMistakes(root, ids),
  ]
}

/**
 * Two companies with one apikey may have the same courier on the same route: whose is what is pushed? An OAuth token is a
 * user's, who may have access to several companies.
 */
function sharedApikeys(root: Node): Mistake[] {
  const owners = new Map<string, number>()
  const mistakes: Mistake[] = []
  for (const [company, node] of itemsAt(root, 'companies').entries())
    for (const [index, key] of itemsAt(node, 'apikeys').entries()) {
      if (key.kind !== 'leaf' || key.text === null) continue
      const owner = owners.get(key.text)
      if (owner === undefined) owners.set(key.text, company)
      else if (owner !== company) {
        const path = ['companies', company, 'apikeys', index]
        mistakes.push({ at: key.at, key: pathText(path), message: `companies[${owner}] has this apikey already` })
      }
    }
  return mistakes
}

function routeMistakes(root: Node, companies: ReadonlySet<string>): Mistake[] {
  const seen = new Map<string, number>()
  const mistakes: Mistake[] = []
  for (const [index, route] of itemsAt(root, 'routes').entries()) {
    const ids = ['company_id', 'courier_id', 'route_id'].map((key) => int64(textAt(route, key) ?? ''))
    const [company] = ids
    if (company !== undefined && !companies.has(company)) mistakes.push(unknownCompany(route, index, company))
    if (ids.includes(undefined)) continue
    const first = seen.get(ids.join('/'))
    if (first === undefined) seen.set(ids.join('/'), index)
    else mistakes.push({ at: route.at, key: pathText(['routes', index]), message: `the same as routes[${first}]` })
  }
  return mistakes
}

function unknownCompany(route: Node, index: number, company: string): Mistake {
  const at = offsetOf(route, ['company_id'])
  return {
    at,
    key: pathText(['routes', index, 'company_id']),
    message: `company ${company} is not among the companies`,
  }
}
