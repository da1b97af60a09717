/** How many arrays and objects may be in one another in a large body. */
export const MAX_DEPTH = 100

/**
 * Smaller bodies are read with any number of levels: that takes 15 ms at most, and to look first would add a quarter to the
 * time of reading each.
 */
export const UNCHECKED_BYTES = 256 * 1_024

/**
 * Whether JSON is of so many levels that parsing it would hold up everyone else: 4 MiB of brackets take half a second. What
 * is no JSON may be that, too.
 */
export function isTooDeep(json: Buffer): boolean {
  if (json.length <= UNCHECKED_BYTES) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfText(json, at)
    else if ((byte | CASE) === OPEN && ++depth > MAX_DEPTH) return true
    else if ((byte | CASE) === CLOSE) depth--
  }
  return false
}

/** Where the text ends that begins at a quotation mark. */
function endOfText(json: Buffer, begin: number): number {
  let at = begin + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** In ASCII brackets and braces differ in the bit that capital and small letters differ in. */
const CASE = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d
