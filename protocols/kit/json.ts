import { DecodeError } from './errors.ts'

/** A JSON object's members, of types unknown. */
export type JsonObject = Readonly<Record<string, unknown>>

/** What JSON text says. @throws DecodeError `malformed` where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new DecodeError('malformed', 'it is no JSON')
  }
}

/**
 * The digits of a member that was read as this number, as they stand in the JSON text: of ids beyond 2^53. Found by
 * themselves, since a reviver is called for every value there is and takes 30 times as long as the rest of the reading.
 */
export function digitsOf(text: string, name: string, value: number): string {
  const members = text.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?\\d+)`, 'g'))
  return [...members].findLast(([, digits]) => Number(digits) === value)?.[1] ?? String(value)
}

/** The value as an object. @throws DecodeError `malformed`; `what` names it. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DecodeError('malformed', `${what} is no object`)
  return value as JsonObject
}

/** A member that has to be a finite number. @throws DecodeError `malformed`, naming it. */
export function numberOf(object: JsonObject, name: string): number {
  const value = optionalNumberOf(object, name)
  if (value === undefined) throw new DecodeError('malformed', `${name} is missing`)
  return value
}

/** A member that is a finite number, null or absent. @throws DecodeError `malformed`, naming it. */
export function optionalNumberOf(object: JsonObject, name: string): number | undefined {
  const value = object[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw new DecodeError('malformed', `${name} is a ${typeof value}, not a number`)
  if (!Number.isFinite(value)) throw new DecodeError('malformed', `${name} is not finite`)
  return value
}
