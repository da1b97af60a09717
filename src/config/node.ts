/** A value of a configuration file with the offset at which it stands; scalars as their source text, null for nothing. */
export type Node = Leaf | Sequence | Mapping

/** A scalar. */
export interface Leaf {
  readonly kind: 'leaf'
  readonly at: number
  readonly text: string | null
  readonly quoted: boolean
}

/** A list. */
interface Sequence {
  readonly kind: 'sequence'
  readonly at: number
  readonly items: readonly Node[]
}

/** Entries in the order of the file; keys may repeat. */
export interface Mapping {
  readonly kind: 'mapping'
  readonly at: number
  readonly entries: readonly Entry[]
}

/** A key of a mapping and its value. */
export interface Entry {
  readonly key: string
  readonly keyAt: number
  readonly value: Node
}

/** Keys and indexes that lead to a value. */
export type Path = readonly PropertyKey[]

/** The value under a key or at an index. */
export function child(node: Node | undefined, key: PropertyKey): Node | undefined {
  if (node?.kind === 'mapping') return node.entries.findLast((entry) => entry.key === key)?.value
  return node?.kind === 'sequence' ? node.items[Number(key)] : undefined
}

/** The items of the list under a key; none where there is no list. */
export function itemsAt(node: Node | undefined, key: PropertyKey): readonly Node[] {
  const value = child(node, key)
  return value?.kind === 'sequence' ? value.items : []
}

/** The text of the scalar under a key. */
export function textAt(node: Node | undefined, key: PropertyKey): string | undefined {
  const value = child(node, key)
  return value?.kind === 'leaf' && value.text !== null ? value.text : undefined
}

/** Where the value at a path stands; of one that is missing, what it is missing from. */
export function offsetOf(root: Node, path: Path): number {
  let node = root
  for (const key of path) {
    const next = child(node, key)
    if (!next) break
    node = next
  }
  return node.at
}

/** Where the last key of a path stands. */
export function keyOffsetOf(root: Node, path: Path): number {
  let node: Node | undefined = root
  for (const key of path.slice(0, -1)) node = child(node, key)
  const entry = node?.kind === 'mapping' ? node.entries.find(({ key }) => key === path.at(-1)) : undefined
  return entry?.keyAt ?? offsetOf(root, path)
}

/** `listeners[2].port` */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  )
}

/** Objects without prototype, arrays, and what `scalar` makes of a leaf; of keys that repeat the last. */
export function valueOf(node: Node, scalar: (leaf: Leaf) => unknown): unknown {
  if (node.kind === 'leaf') return scalar(node)
  if (node.kind === 'sequence') return node.items.map((item) => valueOf(item, scalar))
  const object: Record<string, unknown> = Object.create(null)
  for (const { key, value } of node.entries) object[key] = valueOf(value, scalar)
  return object
}

/** Each node below a root with its path, the root first. */
export function* walk(node: Node, path: Path = []): Generator<{ node: Node; path: Path }> {
  yield { node, path }
  if (node.kind === 'mapping') for (const { key, value } of node.entries) yield* walk(value, [...path, key])
  if (node.kind === 'sequence') for (const [index, item] of node.items.entries()) yield* walk(item, [...path, index])
}
