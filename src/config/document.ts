import type { z } from 'zod'
import { int64 } from '../domain/units.ts'
import {
  child,
  itemsAt,
  keyOffsetOf,
  type Node,
  nodeAt,
  offsetOf,
  type Path,
  pathText,
  textAt,
  valueOf,
} from './node.ts'
import type { Mistake } from './problem.ts'
import { parseYaml, withoutEchoes } from './yaml.ts'

/**
 * Reads a YAML file by a schema in which scalars may be text; an empty file is an empty mapping. @param also finds mistakes
 * beyond the schema, also in files with other mistakes @returns `root` is absent if the file is not YAML, `value` if there
 * are mistakes
 */
export function readDocument<Value>(
  text: string,
  schema: z.ZodType<Value>,
  also: (root: Node) => readonly Mistake[],
): { root?: Node; value?: Value; mistakes: Mistake[] } {
  const { root = EMPTY, mistakes } = parseYaml(text)
  if (root === EMPTY && mistakes.length > 0) return { mistakes }
  const parsed = schema.safeParse(valueOf(root, ({ text: scalar }) => scalar))
  const all = withoutEchoes(mistakes, [...schemaMistakes(parsed.error, root), ...also(root)])
  const isWrong = all.some(({ severity = 'mistake' }) => severity === 'mistake')
  return { root, value: isWrong ? undefined : parsed.data, mistakes: all }
}

/** The issues that a schema found in a value, at the offsets of `node`; `prefix` is the path of the value. */
export function schemaMistakes(error: z.ZodError | undefined, node: Node, prefix: Path = []): Mistake[] {
  return (error?.issues ?? []).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return {
        at: offsetOf(node, issue.path),
        key: pathText([...prefix, ...issue.path]) || undefined,
        message: issue.message,
      }
    const messages = issue.message.split('\n')
    return issue.keys.map((key, index) => {
      const path = [...issue.path, key]
      return { at: keyOffsetOf(node, path), key: pathText([...prefix, ...path]), message: messages[index] }
    })
  })
}

/** The ids in the list `companies` of a file, also of companies with mistakes, and those that are listed twice. */
export function companyIds(root: Node): { ids: ReadonlySet<string>; repeated: Mistake[] } {
  const values = itemsAt(root, 'companies').map((company, index) => ({
    value: int64(textAt(company, 'company_id') ?? ''),
    path: ['companies', index, 'company_id'],
  }))
  const ids = new Set(values.flatMap(({ value }) => value ?? []))
  return { ids, repeated: repeatedValues(root, values, (_, id) => `company ${id} is listed twice`) }
}

/** A value and its place; undefined if the file has no such value. */
interface PathValue {
  readonly value: string | undefined
  readonly path: readonly (string | number)[]
}

/** A mistake for each value that occurs before; `message` gets the path of its first occurrence. */
export function repeatedValues(
  root: Node,
  values: readonly PathValue[],
  message: (first: PathValue['path'], value: string) => string,
): Mistake[] {
  const firsts = new Map<string, PathValue['path']>()
  return values.flatMap(({ value, path }) => {
    if (value === undefined) return []
    const first = firsts.get(value)
    if (first) return mistakeAt(root, path, message(first, value))
    firsts.set(value, path)
    return []
  })
}

/** A mistake about the value at a path. */
export function mistakeAt(root: Node, path: Path, message: string): Mistake {
  return { at: offsetOf(root, path), key: pathText(path), message }
}

/** A listening address in a file; `at` is undefined if the file leaves the port at its default. */
export interface ListenAddress {
  readonly key: string
  /** Its key that has the port. */
  readonly portKey: string
  readonly at?: number
  readonly family: 'tcp' | 'udp'
  readonly host: string
  readonly port: number
}

/** Returns the address at a path, in a mapping with `host` and `port`; `usual` has the defaults. */
export function addressAt(
  root: Node,
  path: Path,
  usual: { host: string; port: number },
  { family = 'tcp', portKey = 'port' }: Partial<Pick<ListenAddress, 'family' | 'portKey'>> = {},
): ListenAddress {
  const node = nodeAt(root, path)
  const port = Number(textAt(node, portKey) ?? usual.port)
  const host = textAt(node, 'host') ?? usual.host
  return { key: pathText(path), portKey, at: child(node, portKey)?.at, family, host, port }
}

/**
 * Returns the addresses whose port is already taken by an earlier one. A conflict of two defaults is not reported, because
 * the file names neither.
 */
export function portConflicts(addresses: readonly ListenAddress[]): Mistake[] {
  const fixed = addresses.filter(({ port }) => port > 0)
  return fixed.flatMap((address, index) => {
    const other = fixed.slice(0, index).find((earlier) => isConflict(earlier, address))
    if (!other) return []
    // The mistake is reported at the address that the file names.
    const [named, against] = address.at === undefined ? [other, address] : [address, other]
    const message = `${against.key} already uses ${named.family} port ${named.port}`
    return named.at === undefined ? [] : [{ at: named.at, key: `${named.key}.${named.portKey}`, message }]
  })
}

function isConflict(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port || a.family !== b.family) return false
  return a.host === b.host || EVERY_HOST.has(a.host) || EVERY_HOST.has(b.host)
}

const EMPTY: Node = { kind: 'mapping', at: 0, entries: [] }
const EVERY_HOST = new Set(['0.0.0.0', '::', '[::]', '*'])
