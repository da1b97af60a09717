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
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type Entry, type Leaf, type Node, type Path, pathText, walk } from './node.ts'
import type { Mistake } from './problem.ts'
import { resolveReference } from './references.ts'

/**
 * A YAML document as nodes, its references looked up by `resolve`.
 * @returns `root` undefined where the document is empty, or where it is no YAML: then `mistakes` says why
 */
export function parseYaml(text: string, resolve: Resolve = resolveReference): { root?: Node; mistakes: Mistake[] } {
  if (text.trim() === '') return { mistakes: [] }
  // The parser's own check for repeated keys is quadratic; see `repeatedKeys`.
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0)
    return { mistakes: faults.map(({ pos, message }) => ({ at: pos[0], message: quoteless(message) })) }
  const mistakes: Mistake[] = []
  const empty = document.contents === null || (isScalar(document.contents) && document.contents.value === null)
  return empty
    ? { mistakes }
    : { root: convert(document.contents, [], { mistakes, anchors: new Map(), resolve }).node, mistakes }
}

/** Keys that occur twice in one mapping: `root`, which stands at a path, or one below it. */
export function repeatedKeys(root: Node, at: Path = []): Mistake[] {
  const mistakes: Mistake[] = []
  for (const { node, path } of walk(root, at)) {
    if (node.kind !== 'mapping') continue
    const seen = new Set<string>()
    for (const { key, keyAt } of node.entries) {
      if (seen.has(key))
        mistakes.push({ at: keyAt, key: pathText([...path, key]), message: 'this key stands here twice' })
      seen.add(key)
    }
  }
  return mistakes
}

/** What a scalar's text stands for. */
type Resolve = (text: string) => { text: string } | { mistake: string }

interface Conversion {
  readonly mistakes: Mistake[]
  readonly resolve: Resolve
  readonly anchors: Map<string, Converted>
}

/** A node and how many values it unfolds to: aliases share nodes, and few lines of them can mean billions. */
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
  const anchor = isNode(source) && !isAlias(source) ? source.anchor : undefined
  if (anchor !== undefined) conversion.anchors.set(anchor, converted)
  return converted
}

function aliased(alias: Alias, path: Path, { anchors, mistakes }: Conversion): Converted {
  const target = anchors.get(alias.source)
  if (target && target.size <= MAX_ALIASED) return target
  const at = offset(alias)
  const message = target ? 'this alias unfolds to too much' : 'this alias is part of what it stands for'
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
  mistakes.push({ at: keyAt, message: 'expected a key of plain or quoted text' })
  return { key: '', keyAt }
}

function nothing(at: number): Leaf {
  return { kind: 'leaf', at, text: null, quoted: false }
}

function offset(source: unknown): number {
  const range = (source as { range?: [number, number, number] | null } | null)?.range
  return range?.[0] ?? 0
}

/**
 * Mistakes of what was read together with those of its meaning. Where a value could not be read, what it would have to
 * mean is not said as well.
 */
export function withoutEchoes(reading: readonly Mistake[], meaning: readonly Mistake[]): Mistake[] {
  const unread = new Set(reading.map(({ key }) => key))
  return [...reading, ...meaning.filter(({ key }) => key === undefined || !unread.has(key))]
}

/** The parser quotes the text that it stumbled over, which may be a secret; what is too deep for it, it says in its own terms. */
function quoteless(message: string): string {
  return message.startsWith('Maximum call stack') ? 'nested too deeply' : message.replace(/: ".*$/s, '')
}

const MAX_ALIASED = 1000
