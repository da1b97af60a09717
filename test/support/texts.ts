import { toJson } from '../../src/texts/language.ts'
import type { Sentence } from '../../src/texts/text.ts'

/** A value as JSON has it, with each text in English. */
export type InEnglish<Value> = Value extends Sentence
  ? string
  : Value extends readonly (infer Item)[]
    ? InEnglish<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: InEnglish<Value[Key]> }
      : Value

export function inEnglish<Value>(value: Value): InEnglish<Value> {
  return value === undefined ? (undefined as InEnglish<Value>) : (JSON.parse(toJson(value, 'en')) as InEnglish<Value>)
}
