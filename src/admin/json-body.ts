import { isUtf8 } from 'node:buffer'
import { Refusal } from '../tracking/refusal.ts'

/**
 * What a JSON body says; a number is what `numeral` makes of its digits, which may be more than a number has.
 * @throws Refusal 422 where it is no JSON
 */
export function parseJson(bytes: Buffer, numeral: (digits: string) => unknown): unknown {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('it is not UTF-8')
    return JSON.parse(bytes.toString(), (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? numeral(context?.source ?? '') : value,
    )
  } catch (error) {
    throw new Refusal(422, `the body is not JSON: ${(error as Error).message}`)
  }
}

/** Whether a body is declared as JSON. */
export function isJson(contentType: string): boolean {
  return JSON_TYPE.test(contentType)
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i
