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

/** The set with one character: the first of a text. */
export function firstOf(text: string): Characters {
  const code = text.charCodeAt(0)
  if (code > 255) throw new Error(`"${text}" is not Latin-1`)
  return 1n << BigInt(code)
}

/**
 * Source of a regular expression for everything up to the first of `next`; to the end where nothing follows.
 * @throws Error where so many characters may follow that it would be unclear where the text ends.
 */
export function upTo(next: Characters, repeat: '*' | '+' = '*'): string {
  const ends = Array.from({ length: 256 }, (_, code) => code).filter((code) => (next >> BigInt(code)) & 1n)
  if (ends.length > MOST_ENDS) throw new Error('literal text must follow')
  const listed = ends.map((code) => `\\x${code.toString(16).padStart(2, '0')}`)
  return ends.length === 0 ? `[^]${repeat}` : `[^${listed.join('')}]${repeat}`
}

/** Literal text, or a letter of a hemisphere, begins with one of so many characters; a number with one of more. */
const MOST_ENDS = 8
