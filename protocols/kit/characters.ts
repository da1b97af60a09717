/** A set of Latin-1 characters, one bit each; `END` is the bit for the end of the text. */
export type Characters = bigint

export const END: Characters = 1n << 256n

/** The characters that one atom of a regular expression takes: `a`, `\d`, `[^,]`. */
export function charactersOf(atom: string): Characters {
  let found = known.get(atom)
  if (found === undefined) {
    const expression = new RegExp(`^${atom}$`)
    found = 0n
    for (let code = 0; code < 256; code++) if (expression.test(String.fromCharCode(code))) found |= 1n << BigInt(code)
    known.set(atom, found)
  }
  return found
}

const known = new Map<string, Characters>()

/** The set that has one character, the first one of the text. */
export function firstOf(text: string): Characters {
  const code = text.charCodeAt(0)
  if (code > 255) throw new Error(`"${text}" is not Latin-1`)
  return 1n << BigInt(code)
}

/**
 * Source of a regular expression for all text before the first character of `next`; to the end if `next` is empty.
 * @throws Error if `next` has so many characters that it would be unclear where the text ends
 */
export function upTo(next: Characters, repeat: '*' | '+' = '*'): string {
  const ends = endsOf(next)
  if (ends.length > MOST_ENDS) throw new Error('literal text must follow')
  const listed = ends.map((code) => `\\x${code.toString(16).padStart(2, '0')}`)
  return ends.length === 0 ? `[^]${repeat}` : `[^${listed.join('')}]${repeat}`
}

/**
 * Literal text and letters of hemispheres begin with one of at most 8 characters; a number may begin with one of more.
 */
const MOST_ENDS = 8

/** Whether it is clear where a text ends that one of some characters follows. */
export function isClear(next: Characters): boolean {
  return endsOf(next).length <= MOST_ENDS
}

function endsOf(next: Characters): readonly number[] {
  let codes = codesOf.get(next)
  if (codes === undefined) {
    codes = Array.from({ length: 256 }, (_, code) => code).filter((code) => (next >> BigInt(code)) & 1n)
    codesOf.set(next, codes)
  }
  return codes
}

/** The codes of each set that was asked for: patterns ask for few sets, again and again. */
const codesOf = new Map<Characters, readonly number[]>()

/** How a part of a pattern reads a text. */
export interface Reading {
  /** The characters that the part may begin with; if the part may be empty, also those that may follow it. */
  readonly first: Characters
  /** The largest number of ways in which the part can read the same text. */
  readonly ways: number
}

/**
 * How the regular expression of a field reads a text, if one of the characters `next` follows the field.
 * @throws Error if the expression has groups or anchors, or could take more than linear time
 */
export function readingOf(source: string, next: Characters): Reading {
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
 * A part that repeats without a limit may not contain a character that the text behind it begins with. Otherwise the
 * part could end at each of its characters, and with two such parts the time would grow with the square of the length.
 */
function atoms(list: readonly Atom[], next: Characters): Reading {
  return list.reduceRight(
    (rest, { characters, least, most }) => {
      const isOneWay = least === most || (characters & rest.first) === 0n
      if (!isOneWay && most === Number.POSITIVE_INFINITY) throw new Error('it may take what begins the text behind it')
      return {
        first: least === 0 ? rest.first | characters : characters,
        ways: isOneWay ? rest.ways : rest.ways * (most - least + 1),
      }
    },
    { first: next, ways: 1 },
  )
}

const ATOM =
  /(\\x[0-9a-f]{2}|\\[^x]|\[(?:\\.|[^\]\\])+\]|\[\^\]|[^\\[\](){}*+?|^$])(?:([*+?])|\{(\d+)(,?)(\d*)\})?|(\|)/gsy

/** The atoms of each alternative of a regular expression. @throws Error for what it does not know: groups, anchors */
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
