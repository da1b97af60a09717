/** A value in a configuration file, with its offset; a scalar is its source text, or null if it is empty. */
export type Node = Leaf | Sequence | Mapping

export interface Leaf {
  readonly kind: 'leaf'
  readonly at: number
  readonly text: string | null
  readonly quoted: boolean
}

interface Sequence {
  readonly kind: 'sequence'
  readonly at: number
  readonly items: readonly Node[]
}

/** A mapping: entries in the order of the file; a key may occur twice. */
export interface Mapping {
  readonly kind: 'mapping'
  readonly at: number
  readonly entries: readonly Entry[]
}

/** A key of a mapping, its offset, and its value. */
export interface Entry {
  readonly key: string
  readonly keyAt: number
  readonly value: Node
}

/** The keys and indexes that lead from the root to a value. */
export type Path = readonly PropertyKey[]

/** The value of a key or at an index. */
export function child(node: Node | undefined, key: PropertyKey): Node | undefined {
  if (node?.kind === 'mapping') return node.entries.findLast((entry) => entry.key === key)?.value
  return node?.kind === 'sequence' ? node.items[Number(key)] : undefined
}

/** The items of the list under a key; empty if there is no list. */
export function itemsAt(node: Node | undefined, key: PropertyKey): readonly Node[] {
  const value = child(node, key)
  return value?.kind === 'sequence' ? value.items : []
}

/** The text of the scalar that a key has. */
export function textAt(node: Node | undefined, key: PropertyKey): string | undefined {
  const value = child(node, key)
  return value?.kind === 'leaf' && value.text !== null ? value.text : undefined
}

export function nodeAt(root: Node | undefined, path: Path): Node | undefined {
  return path.reduce(child, root)
}

/** Returns the offset of the value at a path; if it is missing, of the innermost value that exists. */
export function offsetOf(root: Node, path: Path): number {
  return nodeAt(root, path)?.at ?? offsetOf(root, path.slice(0, -1))
}

/** The offset of the last key of a path. */
export function keyOffsetOf(root: Node, path: Path): number {
  const node = nodeAt(root, path.slice(0, -1))
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

/**
 * The value as plain objects (without prototype) and arrays; `scalar` converts leaves. Of repeated keys the last
 * wins.
 */
export function valueOf(node: Node, scalar: (leaf: Leaf, path: Path) => unknown, path: Path = []): unknown {
  if (node.kind === 'leaf') return scalar(node, path)
  if (node.kind === 'sequence') return node.items.map((item, index) => valueOf(item, scalar, [...path, index]))
  const object: Record<string, unknown> = Object.create(null)
  for (const { key, value } of node.entries) object[key] = valueOf(value, scalar, [...path, key])
  return object
}
