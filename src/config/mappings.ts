import { z } from 'zod'
import {
  type JsonPath,
  jsonPathText,
  MAPPING_PREFIX,
  type MappingDescription,
  parseJsonPath,
  TIME_FORMATS,
} from '../../protocols/kit/index.ts'
import { schemaMistakes } from './document.ts'
import { fields, leaf, oneOf, setting } from './leaves.ts'
import { type Entry, pathText, valueOf } from './node.ts'
import type { Mistake, Source } from './problem.ts'
import { parseYaml, resolveReference, withoutEchoes } from './yaml.ts'

export type { MappingDescription }

/** What mappings.yaml says. */
export interface MappingFile {
  /** By their names; undefined if the file has mistakes. */
  readonly mappings?: ReadonlyMap<string, MappingDescription>
  /** The names in the file, also of mappings with mistakes. */
  readonly names: readonly string[]
  readonly mistakes: readonly Mistake[]
}

const path = leaf((text) => {
  const read = parseJsonPath(text)
  return read && !read.steps.includes('*') ? read : undefined
}, 'expected a path to one value, such as $.gps.lat or points[0].lat')

const listPath = leaf(parseJsonPath, 'expected a path to a list, such as $.points[*]')

/** A path alone, or a path with the unit of its value. */
function measured<const Units extends readonly [string, ...string[]]>(...units: Units) {
  const unit = setting(oneOf(...units), units[0] as never, 'Unit of the value.')
  return z.preprocess((value) => (typeof value === 'string' ? { path: value } : value), fields({ path, unit }))
}

/** The schema of a mapping, with the description of each key. */
export const MAPPING = fields({
  device: path.optional().describe('Id of the device; without it that of the topic, or `id=` of the address.'),
  each: listPath.optional().describe('List whose entries have a position each: `$.points[*]`.'),
  time: path.optional().describe('Time of the position; without it that of its arrival.'),
  time_format: oneOf(...TIME_FORMATS)
    .optional()
    .describe('`s` or `ms` since 1970, or `iso`; without it, by the value.'),
  lat: path.describe('Latitude, degrees.'),
  lon: path.describe('Longitude, degrees.'),
  valid: path.optional().describe('Whether the device has a fix: false, 0 and `V` say no.'),
  accuracy: path.optional().describe('Accuracy, metres.'),
  hdop: path.optional().describe('HDOP.'),
  satellites: path.optional().describe('Number of satellites.'),
  speed: measured('ms', 'kmh', 'knots', 'mph')
    .optional()
    .describe('Speed, metres a second; or `{ path, unit }` with `ms`, `kmh`, `knots` or `mph`.'),
  heading: path.optional().describe('Degrees from north.'),
  altitude: path.optional().describe('Metres.'),
  said: fields({
    ignition: path.optional(),
    moving: path.optional(),
    charging: path.optional(),
    battery_percent: path.optional(),
    driver: path.optional(),
    alarms: path.optional(),
    external_voltage: measured('v', 'mv').optional(),
    battery_voltage: measured('v', 'mv').optional(),
  })
    .optional()
    .describe('What the tracker says beside its position.'),
})

/** Reads mappings.yaml. */
export function readMappings({ text }: Pick<Source, 'text'>): MappingFile {
  const { root, mistakes } = parseYaml(withoutBrackets(text), {
    resolve: (scalar) => resolveReference(withBrackets(scalar)),
  })
  if (!root) return { mappings: mistakes.length > 0 ? undefined : new Map(), names: keysIn(text), mistakes }
  if (root.kind !== 'mapping')
    return { names: [], mistakes: [...mistakes, { at: root.at, message: 'expected a mapping of names' }] }
  const meaning: Mistake[] = []
  if (root.entries.length > MOST_MAPPINGS)
    meaning.push({ at: root.at, message: `expected at most ${MOST_MAPPINGS} mappings` })
  const mappings = new Map(root.entries.flatMap((entry) => readEntry(entry, meaning)))
  const all = withoutEchoes(mistakes, meaning)
  return { mappings: all.length > 0 ? undefined : mappings, names: root.entries.map(({ key }) => key), mistakes: all }
}

/** Reads one mapping from JSON, by the rules of the file. */
export function readMapping(
  name: string,
  value: unknown,
): { readonly mapping: MappingDescription } | { readonly mistakes: readonly Pick<Mistake, 'key' | 'message'>[] } {
  const { data, error } = MAPPING.safeParse(value)
  const found = [...nameMistakes(name, 0), ...(error?.issues ?? []).flatMap(issueMistakes)]
  return data && found.length === 0 ? { mapping: data } : { mistakes: found }
}

function issueMistakes(issue: z.core.$ZodIssue): Pick<Mistake, 'key' | 'message'>[] {
  const { message, path: at } = issue
  if (issue.code !== 'unrecognized_keys') return [{ key: pathText(at) || undefined, message }]
  const messages = message.split('\n')
  return issue.keys.map((key, index) => ({ key: pathText([...at, key]), message: messages[index] }))
}

/** A mapping as mappings.yaml has it. */
export function mappingText(mapping: MappingDescription): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(mapping).flatMap(([key, value]) => (value === undefined ? [] : [[key, textOf(value)]])),
  )
}

function textOf(value: string | JsonPath | object): unknown {
  if (typeof value === 'string') return value
  return 'steps' in value ? jsonPathText(value) : mappingText(value as MappingDescription)
}

/** The names of mappings as protocols: `map:NAME`. */
export function mappingNames(names: readonly string[]): string[] {
  return names.map((name) => MAPPING_PREFIX + name)
}

function readEntry({ key, keyAt, value }: Entry, mistakes: Mistake[]): [string, MappingDescription][] {
  const { data, error } = MAPPING.safeParse(valueOf(value, ({ text }) => text ?? undefined))
  const found = [...nameMistakes(key, keyAt), ...schemaMistakes(error, value, [key])]
  mistakes.push(...found)
  return data && found.length === 0 ? [[key, data]] : []
}

function nameMistakes(name: string, at: number): Mistake[] {
  if (NAME.test(name)) return []
  return [{ at, key: name || undefined, message: 'expected a name of at most 40 letters, digits, - and _' }]
}

/*
 * In a mapping in braces, plain text ends at a bracket: `{ each: $.points[*] }` is no YAML. So the brackets of paths are
 * replaced during parsing, one character by one, which keeps the columns right.
 */
function withoutBrackets(text: string): string {
  return text.replace(INDEX, (_, index: string) => OPENING + index + CLOSING)
}

function withBrackets(text: string): string {
  return text.replaceAll(OPENING, '[').replaceAll(CLOSING, ']')
}

/** Returns the keys of a text that is not YAML, so that a listener which names one of them is not reported as well. */
function keysIn(text: string): string[] {
  return Array.from(text.matchAll(/^"?([\w-]+)"?\s*:/gm), ([, key]) => key)
}

const NAME = /^[\w-]{1,40}$/
/** An index directly after a name, `$` or another index. */
const INDEX = /(?<=[\p{L}\p{N}_$\]-])\[(-?\d{1,5}|\*)\]/gu
const OPENING = '\ue05b'
const CLOSING = '\ue05d'
/** Limit for a file, and for mappings saved through the admin port: each mapping is tried on JSON that is not understood. */
export const MOST_MAPPINGS = 50
