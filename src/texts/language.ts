import { GERMAN } from './german/index.ts'
import { english, type Sentence, type Template, type Text, worded } from './text.ts'

export type Language = 'en' | 'de'

/** An answer whose texts are not rendered yet: a sentence may be in place of each string. */
export type WithTexts<Json> = string extends Json
  ? Json | Sentence
  : Json extends readonly (infer Item)[]
    ? readonly WithTexts<Item>[]
    : Json extends object
      ? { readonly [Key in keyof Json]: WithTexts<Json[Key]> }
      : Json

/** The catalogues. English needs none: its text is the key. */
const CATALOGUES: Readonly<Record<Exclude<Language, 'en'>, Readonly<Record<Template, string>>>> = { de: GERMAN }

/** Returns the language that an HTTP client asks for first (`Accept-Language`), if there is a catalogue; else English. */
export function languageOf(accepted = ''): Language {
  return accepted.trimStart().slice(0, 2).toLowerCase() === 'de' ? 'de' : 'en'
}

/** Puts a text into the words of a language. */
export function inLanguage(text: Text, language: Language): string {
  if (language === 'en') return english(text)
  const catalogue: Readonly<Record<string, string>> = CATALOGUES[language]
  const fill = (sentence: Sentence, values: readonly string[]) => {
    const template = Object.hasOwn(catalogue, sentence.says) ? catalogue[sentence.says] : undefined
    return (
      template?.replaceAll(/\{(\d)\}/g, (_, n: string) => values[Number(n) - 1]) ?? english({ ...sentence, values })
    )
  }
  return worded(text, fill, withComma)
}

function withComma(value: number): string {
  return String(value).replace('.', ',')
}

/** JSON with each text in it in a language. */
export function toJson(value: unknown, language: Language): string {
  return JSON.stringify(value, function (this: object, _, each: unknown) {
    if (typeof each !== 'object' || each === null) return each
    if (ofOthers.has(this)) asData(each)
    return !ofOthers.has(each) && isSentence(each) ? inLanguage(each, language) : each
  })
}

/** Makes `toJson` keep somebody else's object unchanged, even if a part of it looks like a text of ours. */
export function asData<Of extends object>(value: Of): Of {
  ofOthers.add(value)
  return value
}

const ofOthers = new WeakSet<object>()

function isSentence(value: unknown): value is Sentence {
  if (typeof value !== 'object' || value === null || !('says' in value && 'values' in value)) return false
  const { says, values } = value
  return typeof says === 'string' && Array.isArray(values) && values.every(isTextValue)
}

function isTextValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || isSentence(value)
}
