import { readFileSync } from 'node:fs'
import {
  type Alias,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type Entry, type Leaf, type Node, type Path, pathText, walk } from './node.ts'
import type { Mistake } from './problem.ts'

/**
 * Parses a YAML document into nodes; `resolve` replaces the references in its scalars.
 * @returns `root` is undefined where the document is empty, or is not YAML: then `mistakes` says why
 */
export function parseYaml(text: string, resolve: Resolve = resolveReference): { root?: Node; mistakes: Mistake[] } {
  if (text.trim() === '') return { mistakes: [] }
  // The parser's own check for repeated keys takes quadratic time; `repeatedKeys` replaces it.
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  const faults = [...document.errors, ...document.warnings].slice(0, MAX_FAULTS)
  if (faults.length > 0) return { mistakes: faults.map((fault) => ({ at: fault.pos[0], message: faultText(fault) })) }
  const mistakes: Mistake[] = []
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return { mistakes }
  return { root: convert(contents, [], { mistakes, anchors: new Map(), resolve }).node, mistakes }
}

/** Keys that occur twice in one mapping, at `root`, which has the path `at`, or below it. */
export function repeatedKeys(root: Node, at: Path = []): Mistake[] {
  const mistakes: Mistake[] = []
  for (const { node, path } of walk(root, at)) {
    if (node.kind !== 'mapping') continue
    const seen = new Set<string>()
    for (const { key, keyAt } of node.entries) {
      if (seen.has(key)) mistakes.push({ at: keyAt, key: pathText([...path, key]), message: 'this key occurs twice' })
      seen.add(key)
    }
  }
  return mistakes
}

/** The mistakes of both kinds; a value that could not be read has no further mistake about its meaning. */
export function withoutEchoes(reading: readonly Mistake[], meaning: readonly Mistake[]): Mistake[] {
  const unread = new Set(reading.map(({ key }) => key))
  return [...reading, ...meaning.filter(({ key }) => key === undefined || !unread.has(key))]
}

/**
 * The text that a scalar stands for: `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` are replaced, any
 * other text is itself. An empty variable counts as the default; line ends at the end of a file are dropped.
 * @returns `mistake`: a sentence with the name of the variable or file, never with its value
 */
export function resolveReference(text: string): Resolved {
  if (!text.includes('${')) return { text }
  const match = /^\$\{(env|file):([^}]*)\}$/.exec(text)
  if (!match) return /\$\{(env|file):/.test(text) ? { mistake: WHOLE_VALUE } : { text }
  return match[1] === 'env' ? fromEnvironment(match[2]) : fromFile(match[2])
}

type Resolved = { text: string } | { mistake: string }
type Resolve = (text: string) => Resolved

function fromEnvironment(reference: string): Resolved {
  const [, name, fallback] = /^(.*?)(?::-(.*))?$/s.exec(reference) ?? []
  const value = process.env[name]
  if (fallback !== undefined) return { text: value || fallback }
  return value === undefined ? { mistake: `the environment variable ${name} is not set` } : { text: value }
}

function fromFile(path: string): Resolved {
  try {
    return { text: readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') }
  } catch (error) {
    return { mistake: `the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}

/** What is wrong with a text that is not YAML, without the part of the text, maybe a secret, that the parser quotes. */
function faultText({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'expected one document: remove the lines --- and ...'
  return /stack/i.test(message) ? 'nested too deeply' : `not valid YAML: ${message.replace(/: ".*$/s, '')}`
}

interface Conversion {
  readonly mistakes: Mistake[]
  readonly resolve: Resolve
  readonly anchors: Map<string, Converted>
}

/** A node and the number of values in it: aliases share nodes, so that few lines can mean billions of values. */
interface Converted {
  readonly node: Node
  readonly size: number
}

function convert(source: unknown, path: Path, conversion: Conversion): Converted {
  if (isAlias(source)) return aliased(source, path, conversion)
  const converted = isMap(source)
    ? mapping(source, path, conversion)
    : isSeq(source)
      ? sequence(source, path, conversion)
      : { node: leaf(source, path, conversion), size: 1 }
  if (isNode(source) && source.anchor !== undefined) conversion.anchors.set(source.anchor, converted)
  return converted
}

function aliased(alias: Alias, path: Path, { anchors, mistakes }: Conversion): Converted {
  const target = anchors.get(alias.source)
  if (target && target.size <= MAX_ALIASED) return target
  const at = offset(alias)
  const message = target ? `this alias stands for more than ${MAX_ALIASED} values` : 'this alias refers to itself'
  mistakes.push({ at, key: pathText(path), message })
  return { node: nothing(at), size: 1 }
}

function mapping(map: YAMLMap, path: Path, conversion: Conversion): Converted {
  let size = 1
  const entries = map.items.map((pair): Entry => {
    const { key, keyAt } = keyOf(pair, conversion.mistakes)
    const value = pair.value === null ? undefined : convert(pair.value, [...path, key], conversion)
    size += value?.size ?? 1
    return { key, keyAt, value: value?.node ?? nothing(keyAt) }
  })
  return { node: { kind: 'mapping', at: offset(map), entries }, size }
}

function sequence(list: YAMLSeq, path: Path, conversion: Conversion): Converted {
  const items = list.items.map((item, index) => convert(item, [...path, index], conversion))
  const size = items.reduce((sum, item) => sum + item.size, 1)
  return { node: { kind: 'sequence', at: offset(list), items: items.map(({ node }) => node) }, size }
}

function leaf(source: unknown, path: Path, { mistakes, resolve }: Conversion): Leaf {
  const at = offset(source)
  if (!isScalar(source) || source.value === null) return nothing(at)
  const resolved = resolve(source.source ?? '')
  if ('text' in resolved) return { kind: 'leaf', at, text: resolved.text, quoted: source.type !== Scalar.PLAIN }
  mistakes.push({ at, key: pathText(path), message: resolved.mistake })
  return nothing(at)
}

function keyOf({ key }: Pair, mistakes: Mistake[]): { key: string; keyAt: number } {
  const keyAt = offset(key)
  if (isScalar(key)) return { key: key.source ?? '', keyAt }
  mistakes.push({ at: keyAt, message: 'expected plain or quoted text as a key' })
  return { key: '', keyAt }
}

function nothing(at: number): Leaf {
  return { kind: 'leaf', at, text: null, quoted: false }
}

function offset(source: unknown): number {
  const range = (source as { range?: [number, number, number] | null } | null)?.range
  return range?.[0] ?? 0
}

/** After a syntax error the parser reports more that follow from it. */
const MAX_FAULTS = 20
const MAX_ALIASED = 1000
const WHOLE_VALUE = 'a reference such as ${env:NAME} must be the whole value'
