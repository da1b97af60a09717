import { type Characters, charactersOf, END, firstOf, type Reading, readingOf, upTo } from './characters.ts'
import { Draft } from './draft.ts'
import { DecodeError } from './errors.ts'
import { FIELDS, type Field, numberField, PLACES } from './fields.ts'
import type { Session } from './protocol.ts'

/** The fields of one protocol, by name. One that is named like a field of the kit and has no `read` is read like it. */
export type Fields = Readonly<Record<string, Field>>

interface DrawnOptions {
  readonly fields?: Fields
  /** A text that, like an empty field, stands for an unknown value: 'NA'. */
  readonly absent?: string
}

/** One line as a specification draws it. */
export interface Drawn {
  /** The literal text that it begins with. */
  readonly prefix: string
  /** The names of the fields that are read, and the groups of the expression that hold them. */
  readonly names: ReadonlyMap<string, number>
  /** What a text says that is like the pattern, all of it; undefined of another. A field that cannot be read is the draft's `fault`. */
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
        if (value === undefined || value === '' || value === absent) continue
        try {
          read(value, draft, session)
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error
          draft.fault ??= error
        }
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
  const isMeasurement = isNumber && !PLACES.includes(name)
  const form = { width: width === undefined ? undefined : Number(width), divisor: Number(divisor ?? 1), isMeasurement }
  const kit = isNumber ? numberField(kits, form) : kits
  const { like = upTo, read, alarms } = { ...(kit as Field), ...own }
  if (name === 'any') return { name, like, count, group: 0 }
  parsing.groups++
  if (!parsing.names.has(name)) parsing.names.set(name, parsing.groups)
  return {
    name,
    like: isNumber || typeof like === 'string' ? orAbsent(like, parsing.absent, isMeasurement) : like,
    read: alarms ? withAlarms(alarms, read) : read,
    count,
    group: parsing.groups,
  }
}

function withAlarms(alarms: NonNullable<Field['alarms']>, read: Field['read']): NonNullable<Field['read']> {
  const kinds = new Map(Object.entries(alarms))
  return (text, draft, session) => {
    read?.(text, draft, session)
    const alarm = kinds.get(text)
    if (alarm) draft.says({ alarms: [alarm] })
  }
}

/** A field that may also hold what stands for an unknown value; in a measurement NaN, NA and null do where none of their letters follows. */
function orAbsent(like: FieldNode['like'], absent: string | undefined, isMeasurement: boolean): FieldNode['like'] {
  if (absent === undefined && !isMeasurement) return like
  return (next) => {
    const source = typeof like === 'string' ? like : like(next)
    // Any text, so that of unknown values too.
    if (isMeasurement && source.startsWith('[^')) return source
    const isUnknown = isMeasurement && (next & charactersOf('[AaLlNnUu]')) === 0n
    if (isUnknown && (absent === undefined || UNKNOWN_TEXT.test(absent))) return `${source}|${UNKNOWN}`
    return absent === undefined ? source : `${escaped(absent)}|${source}`
  }
}

const UNKNOWN = '[Nn][AaUu][NnLl]{0,2}'
const UNKNOWN_TEXT = new RegExp(`^${UNKNOWN}$`)

function fieldsIn(nodes: readonly Node[]): readonly FieldNode[] {
  return nodes.flatMap((node) => ('optional' in node ? fieldsIn(node.optional) : 'literal' in node ? [] : [node]))
}

function prefixOf(nodes: readonly Node[]): string {
  const end = nodes.findIndex((node) => !('literal' in node))
  const literals = end < 0 ? nodes : nodes.slice(0, end)
  return literals.map((node) => ('literal' in node ? node.literal : '')).join('')
}

/** A part of a pattern, compiled. */
interface Part extends Reading {
  readonly source: string
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
    const { first, ways } = readingOf(source, next)
    if (group > 0) return { source: `(${source})`, first, ways }
    // Written out: to count repetitions takes longer.
    const others = count === 1 ? '' : `${source}${separator(next)}`.repeat(count - 1)
    return { source: others + source, first, ways }
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

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
