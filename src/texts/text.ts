import type { GERMAN } from './german/index.ts'

/** The English form of a text, with `{}` for each value. One without a German text does not compile. */
export type Template = keyof typeof GERMAN

/** A text of ours as data. It is rendered when it is read. */
export interface Sentence {
  readonly says: string
  readonly values: readonly TextValue[]
  /** Begins with a capital letter. */
  readonly isCapital?: true
}
type TextValue = Text | number

/** A readable text. A string is the same in every language: a name, an id, an answer of another server. */
export type Text = string | Sentence

/** A text of ours with its values. A decimal number is a number, not a string: German writes it with a comma. */
export function say<Says extends Template>(says: Says, ...values: ValuesOf<Says>): Sentence {
  return { says, values }
}

type ValuesOf<Says extends string, Values extends unknown[] = []> = Says extends `${string}{}${infer Rest}`
  ? ValuesOf<Rest, [...Values, TextValue]>
  : Values

/** Several texts as one, with a separator such as `; ` between them. */
export function joined(texts: readonly Text[], separator: string): Text {
  return texts.length === 1 ? texts[0] : { says: texts.map(() => '{}').join(separator), values: texts }
}

/** A text as a whole sentence: with a capital letter and a full stop. */
export function wholeSentence(text: Text): Sentence {
  return { says: '{}.', values: [text], isCapital: true }
}

/** `1 lane`, `3 lanes` */
export function counted(count: number, one: Template, several: Template): Sentence {
  return { says: count === 1 ? one : several, values: [count] }
}

/** What a server answers: its status, and what it says beside that, if anything. */
export function answerText(status: number, said: string): Sentence {
  return said === '' ? say('it answers {}', status) : say('it answers {}: {}', status, said)
}

/** Returns a text with each string in it changed; sentences of ours stay. */
export function withStrings(text: Text, change: (string: string) => string): Text {
  if (typeof text === 'string') return change(text)
  return {
    ...text,
    values: text.values.map((value) => (typeof value === 'number' ? value : withStrings(value, change))),
  }
}

/** The texts without repetitions. */
export function distinct(texts: readonly Text[]): Text[] {
  return [...new Map(texts.map((text) => [english(text), text])).values()]
}

/** Whether a text has a value: a name, an id. */
export function mentions(text: Text, value: string): boolean {
  if (typeof text === 'string') return text === value
  return text.values.some((each) => typeof each !== 'number' && mentions(each, value))
}

export function english(text: Text): string {
  return worded(text, ({ says }, values) => {
    const [first, ...rest] = says.split('{}')
    return first + rest.map((part, index) => values[index] + part).join('')
  })
}

/** Puts a text into words. `fill`: puts values into a sentence; `figure`: writes a number. */
export function worded(
  text: Text,
  fill: (sentence: Sentence, values: readonly string[]) => string,
  figure: (value: number) => string = String,
): string {
  if (typeof text === 'string') return text
  const words = fill(
    text,
    text.values.map((value) => (typeof value === 'number' ? figure(value) : worded(value, fill, figure))),
  )
  return text.isCapital ? words.charAt(0).toUpperCase() + words.slice(1) : words
}
