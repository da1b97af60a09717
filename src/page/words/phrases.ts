/** A text with `{}` for each value, and the same in another language with `{1}`, `{2}` for these values. */
export type Phrase = readonly [text: string, translation: string]

/**
 * Translates texts that consist of phrases. The longest phrase that fits the whole text is used; its values are
 * translated in the same way. If no phrase fits, the text is cut at `; `, `, ` or `: ` and each part is translated. A
 * part that fits no phrase stays as it is: names, numbers, answers of other servers.
 */
export class PhraseBook {
  readonly #phrases: readonly { readonly parts: readonly string[]; readonly translation: string }[]
  /** Cache of translations: each new state brings the same texts again. */
  readonly #known = new Map<string, string>()

  constructor(phrases: readonly Phrase[]) {
    this.#phrases = phrases
      .toSorted(([one], [other]) => other.length - one.length)
      .map(([text, translation]) => ({ parts: text.split('{}'), translation }))
  }

  translate(text: string): string {
    if (text.length > MOST_SIGNS) return text
    const known = this.#known.get(text)
    if (known !== undefined) return known
    // A blank at the beginning or end is kept as it is.
    const inner = text.trim()
    const translated = text.replace(inner, () => this.phrase(inner) ?? this.#inParts(inner))
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(text, translated)
    return translated
  }

  /** The translation of a text that is one phrase with its values; undefined if no phrase fits. */
  phrase(text: string): string | undefined {
    const atBeginning = text.charAt(0).toLowerCase() + text.slice(1)
    for (const { parts, translation } of this.#phrases) {
      const values = valuesOf(text, parts) ?? valuesOf(atBeginning, parts)
      if (values) return translation.replace(/\{(\d)\}/g, (_, n: string) => this.translate(values[Number(n) - 1]))
    }
    return undefined
  }

  /** Cuts the text where its rest is one phrase; else at each separator that may stand between two phrases. */
  #inParts(text: string): string {
    const cuts = [...text.matchAll(CUTS)].slice(0, MOST_CUTS)
    for (const { index, 0: sign } of cuts) {
      const after = this.phrase(text.slice(index + sign.length))
      if (after !== undefined) return this.translate(text.slice(0, index)) + sign + after
    }
    if (cuts.length > 0 && cuts.length < MOST_CUTS)
      return text.replaceAll(/(.+?)([;,:] |$)/g, (_, part: string, sign: string) => (this.phrase(part) ?? part) + sign)
    return text
  }
}

/** What stands between the parts of a phrase, each as late in the text as can be; undefined where the text is another one. */
function valuesOf(text: string, parts: readonly string[]): string[] | undefined {
  const [first, last] = [parts[0], parts[parts.length - 1]]
  if (parts.length === 1) return text === first ? [] : undefined
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined
  const values: string[] = []
  let end = text.length - last.length
  for (const part of parts.slice(1, -1).toReversed()) {
    const at = text.slice(0, end).lastIndexOf(part)
    if (at < 0) return undefined
    values.unshift(text.slice(at + part.length, end))
    end = at
  }
  if (end < first.length) return undefined
  values.unshift(text.slice(first.length, end))
  // What stands in front of a bare separator has none itself: the text has further parts.
  if (values.some((value, index) => parts[index + 1] === ': ' && value.includes(': '))) return undefined
  // A phrase of one part takes no text of several for its value.
  const sign = parts.some((part) => CUT.test(part)) ? /; / : CUT
  return values.some((value) => value === text || sign.test(value.replaceAll(BETWEEN_NUMBERS, ''))) ? undefined : values
}

const CUT = /[;,:] /
const CUTS = /[;,:] /g
/** A list of numbers is one value. */
const BETWEEN_NUMBERS = /(?<=\d), (?=\d)/g
/** More has no text of ours. */
const MOST_CUTS = 40
const MOST_SIGNS = 2000
const MAX_KNOWN = 2000
