import { type Characters, charactersOf, END, firstOf, upTo } from './characters.ts'
import { Draft } from './draft.ts'
import { type Field, FIELDS, numberField } from './fields.ts'
import type { Session } from './protocol.ts'

/** The fields of one protocol, by name. One that is named like a field of the kit and has no `read` is read like it. */
export type Fields = Readonly<Record<string, Field>>

interface DrawnOptions {
  readonly fields?: Fields
  /** What stands for a value that the device does not know, beside an empty field: 'NA'. */
  readonly absent?: string
}

/** One line as a specification draws it. */
export interface Drawn {
  /** The literal text that it begins with. */
  readonly prefix: string
  /** The names of the fields that are read, and the groups of the expression that hold them. */
  readonly names: ReadonlyMap<string, number>
  /** What a text says that is like the pattern, all of it; undefined of another. @throws DecodeError of a field's reader */
  match(text: string, session: Session): Draft | undefined
}

/**
 * Compiles a pattern: literal text, `{field}`, `[optional]`, `\` in front of a brace, a bracket or itself. A field of a number
 * may have a width and a divisor: `{course:5}`, `{lat/1e6}`. `{any:3}` are three fields with what follows between them.
 * @throws Error of an unknown field, and of a pattern that could take more than linear time.
 */
export function drawn(pattern: string, options: DrawnOptions = {}): Drawn {
  try {
    return compile(pattern, options)
  } catch (error) {
    throw new Error(`the pattern ${pattern}: ${(error as Error).message}`, { cause: error })
  }
}

function compile(pattern: string, { fields = {}, absent }: DrawnOptions): Drawn {
  const names = new Map<string, number>()
  const nodes = parsed(pattern, { fields, absent, names, groups: 0 })
  const { source, ways } = sequence(nodes, END)
  if (ways > MOST_WAYS) throw new Error(`it can be read in ${ways} ways: put optional parts into one another`)
  const expression = new RegExp(`^${source}$`)
  const readers = fieldsIn(nodes).flatMap(({ group, read }) => (read ? [{ group, read }] : []))
  const hasValidity = VALIDITIES.some((name) => names.has(name))
  return {
    prefix: prefixOf(nodes),
    names,
    match(text, session) {
      const found = expression.exec(text)
      if (found === null) return undefined
      const draft = new Draft(found, names)
      if (hasValidity) draft.valid = false
      for (const { group, read } of readers) {
        const value = found[group]
        if (value !== undefined && value !== '' && value !== absent) read(value, draft, session)
      }
      return draft
    },
  }
}

/** Fields that say whether a position is valid: where a line has one, an empty one means that it is not. */
const VALIDITIES = ['valid', 'quality']

/** The optional parts of a line that may be left out are few, so that trying all of them stays cheap. */
const MOST_WAYS = 64

type Node = FieldNode | { readonly literal: string } | { readonly optional: readonly Node[] }

interface FieldNode {
  readonly name: string
  readonly like: NonNullable<Field['like']>
  readonly read?: Field['read']
  /** How many fields it stands for. */
  readonly count: number
  /** The group of the expression that holds it; 0: none. */
  readonly group: number
}

interface Parsing extends Required<Pick<DrawnOptions, 'fields'>> {
  readonly absent?: string
  readonly names: Map<string, number>
  groups: number
}

const TOKEN = /\\([\\{}[\]])|\{([^{}]*)\}|[[\]]|[^\\{}[\]]+|./gs

function parsed(pattern: string, parsing: Parsing): readonly Node[] {
  const open: Node[][] = [[]]
  for (const { 0: token, 1: plain, 2: field } of pattern.matchAll(TOKEN)) {
    const nodes = open[open.length - 1]
    if (field !== undefined) nodes.push(fieldNode(field, parsing))
    else if (token === '[') open.push([])
    else if (token === ']' && open.length > 1) open[open.length - 2].push({ optional: open.pop() ?? [] })
    else if (plain === undefined && '\\{}]'.includes(token)) throw new Error(`"${token}" has no "\\" in front of it`)
    else nodes.push({ literal: plain ?? token })
  }
  if (open.length > 1) throw new Error('"[" is not closed')
  return open[0]
}

const FIELD = /^(\w+)(?::(\d+))?(?:\/([\d.]+(?:e\d+)?))?$/

function fieldNode(text: string, parsing: Parsing): FieldNode {
  const [, name = '', width, divisor] = FIELD.exec(text) ?? []
  const own = Object.hasOwn(parsing.fields, name) ? parsing.fields[name] : undefined
  const kits = FIELDS.get(name)
  if (!own && !kits) throw new Error(`{${text}} is no field`)
  const isNumber = !own && kits !== undefined && 'set' in kits
  if (divisor !== undefined && !isNumber) throw new Error(`{${name}} has no divisor`)
  if (width !== undefined && !isNumber && name !== 'any') throw new Error(`{${name}} has no width`)
  const count = name === 'any' ? Number(width ?? 1) : 1
  const kit = isNumber ? numberField(kits, width === undefined ? undefined : Number(width), Number(divisor ?? 1)) : kits
  const { like = upTo, read } = { ...(kit as Field), ...own }
  if (name === 'any') return { name, like, count, group: 0 }
  parsing.groups++
  if (!parsing.names.has(name)) parsing.names.set(name, parsing.groups)
  return {
    name,
    like: isNumber || typeof like === 'string' ? orAbsent(like, parsing.absent) : like,
    read,
    count,
    group: parsing.groups,
  }
}

function orAbsent(like: FieldNode['like'], absent: string | undefined): FieldNode['like'] {
  if (absent === undefined) return like
  return (next) => `${escaped(absent)}|${typeof like === 'string' ? like : like(next)}`
}

function fieldsIn(nodes: readonly Node[]): readonly FieldNode[] {
  return nodes.flatMap((node) => ('optional' in node ? fieldsIn(node.optional) : 'literal' in node ? [] : [node]))
}

function prefixOf(nodes: readonly Node[]): string {
  const end = nodes.findIndex((node) => !('literal' in node))
  const literals = end < 0 ? nodes : nodes.slice(0, end)
  return literals.map((node) => ('literal' in node ? node.literal : '')).join('')
}

/** A part of a pattern, compiled. */
interface Part {
  readonly source: string
  /** What it may begin with, and where it may be empty what may follow it. */
  readonly first: Characters
  /** In how many ways the same text may be read, at most. */
  readonly ways: number
}

/** Compiles nodes from the last to the first, because what a field may take depends on what follows it. */
function sequence(nodes: readonly Node[], next: Characters): Part {
  const start: Part = { source: '', first: next, ways: 1 }
  return nodes.reduceRight((rest, node) => {
    const part = partOf(node, rest.first)
    return { source: part.source + rest.source, first: part.first, ways: part.ways * rest.ways }
  }, start)
}

function partOf(node: Node, next: Characters): Part {
  if ('literal' in node) return { source: escaped(node.literal), first: firstOf(node.literal), ways: 1 }
  if ('optional' in node) {
    const { source, first, ways } = sequence(node.optional, next)
    const isClear = (first & next) === 0n
    return { source: `(?:${source})?`, first: first | next, ways: isClear ? ways : ways + 1 }
  }
  const { name, like, count, group } = node
  try {
    const source = typeof like === 'string' ? like : like(next)
    const { first, ways } = alternatives(source, next)
    if (group > 0) return { source: `(${source})`, first, ways }
    return { source: count === 1 ? source : `(?:${source}${separator(next)}){${count - 1}}${source}`, first, ways }
  } catch (error) {
    throw new Error(`{${name}}: ${(error as Error).message}`, { cause: error })
  }
}

/** The one character that follows, between several fields of any content. */
function separator(next: Characters): string {
  const source = upTo(next).slice(2, -2)
  if (!/^\\x..$/.test(source)) throw new Error('one character must follow')
  return source
}

function alternatives(source: string, next: Characters): Pick<Part, 'first' | 'ways'> {
  let first = 0n
  let ways = 1
  for (const alternative of atomsOf(source)) {
    const part = atoms(alternative, next)
    ways = first & part.first ? ways + part.ways : Math.max(ways, part.ways)
    first |= part.first
  }
  return { first, ways }
}

interface Atom {
  readonly characters: Characters
  readonly least: number
  readonly most: number
}

/**
 * Text that is repeated without a limit must end where what follows begins: otherwise each of its characters could be its
 * end, and with two such fields the time grows with the square of the length.
 */
function atoms(list: readonly Atom[], next: Characters): Pick<Part, 'first' | 'ways'> {
  return list.reduceRight(
    (rest, { characters, least, most }) => {
      const isClear = least === most || (characters & rest.first) === 0n
      if (!isClear && most === Number.POSITIVE_INFINITY) throw new Error('it may take what begins the text behind it')
      return {
        first: least === 0 ? rest.first | characters : characters,
        ways: isClear ? rest.ways : rest.ways * (most - least + 1),
      }
    },
    { first: next, ways: 1 },
  )
}

const ATOM =
  /(\\x[0-9a-f]{2}|\\[^x]|\[(?:\\.|[^\]\\])+\]|\[\^\]|[^\\[\](){}*+?|^$])(?:([*+?])|\{(\d+)(,?)(\d*)\})?|(\|)/gsy

/** The atoms of each alternative of a regular expression. @throws Error of what it does not know: groups, anchors */
function atomsOf(source: string): readonly (readonly Atom[])[] {
  const lists: Atom[][] = [[]]
  let end = 0
  for (const { 0: token, 1: atom, 2: repeat, 3: least, 4: comma, 5: most, 6: bar } of source.matchAll(ATOM)) {
    end += token.length
    if (bar) lists.push([])
    else lists[lists.length - 1].push({ characters: charactersIn(atom), ...counts({ repeat, least, comma, most }) })
  }
  if (end < source.length) throw new Error(`"${source.slice(end)}" is more than characters and how often they come`)
  return lists
}

function charactersIn(atom: string): Characters {
  const characters = charactersOf(atom)
  if (characters === 0n) throw new Error(`"${atom}" is no character`)
  return characters
}

interface Repetition {
  readonly repeat?: string
  readonly least?: string
  readonly comma?: string
  readonly most?: string
}

function counts({ repeat, least, comma, most }: Repetition): Pick<Atom, 'least' | 'most'> {
  if (least !== undefined) {
    const open = comma ? Number.POSITIVE_INFINITY : Number(least)
    return { least: Number(least), most: most ? Number(most) : open }
  }
  return {
    least: repeat === '*' || repeat === '?' ? 0 : 1,
    most: repeat === '*' || repeat === '+' ? Number.POSITIVE_INFINITY : 1,
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
