/** A text that is to be read, not a key or a glue of parts. */
const HAS_WORDS =
  /[A-Za-z]{2,}[^A-Za-z]*\s[^A-Za-z]*[A-Za-z]{2,}|[A-Za-z]{2,}: \{\}|\{\} [A-Za-z]{2,}|[A-Za-z]{2,} \{\}/

/**
 * The string and template literals of TypeScript that have words, in their order. What a template fills in is `{}`; a literal
 * within that is one of its own.
 */
export function literalsOf(source: string): string[] {
  return read(source).filter((text) => HAS_WORDS.test(text))
}

function read(source: string): string[] {
  const found: string[] = []
  let at = 0
  /** Reads code until `end`, and leaves `at` behind it. */
  const readCode = (end?: string): void => {
    while (at < source.length) {
      const sign = source[at]
      if (source.startsWith('//', at)) at = behind('\n')
      else if (source.startsWith('/*', at)) at = behind('*/')
      else if (sign === "'") readString()
      else if (sign === '`') readTemplate()
      else if (sign === '/' && REGEX.test(source.slice(at, at + 200)))
        at += REGEX.exec(source.slice(at, at + 200))![0].length
      else {
        at++
        if (sign === end) return
        if (sign === '{') readCode('}')
      }
    }
  }
  const behind = (mark: string) => (source.indexOf(mark, at) + 1 || source.length) + mark.length - 1
  const readString = () => {
    const [all, text] = /'((?:[^'\\\n]|\\.)*)'/y.exec(source.slice(at))!
    found.push(text.replaceAll(/\\(.)/g, '$1'))
    at += all.length
  }
  const readTemplate = () => {
    const slot = found.push('') - 1
    for (at++; source[at] !== '`'; ) {
      if (source.startsWith('${', at)) {
        at += 2
        readCode('}')
        found[slot] += '{}'
      } else {
        if (source[at] === '\\') at++
        found[slot] += source[at++]
      }
    }
    at++
  }
  readCode()
  return found
}

/** One that stands where a value begins; divisions in the sources have blanks around them. */
const REGEX = /^\/[^\s/*][^/\n]*\/[a-z]*/
