import { DecodeError } from './errors.ts'

/** A JSON object's members, of types unknown. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * What JSON text says. `exact`: the members whose numbers are kept as the digits that stand there, for ids beyond 2^53.
 * @throws DecodeError `malformed` where it is no JSON.
 */
export function parseJson(text: string, exact: readonly string[] = []): unknown {
  const digits = (name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && exact.includes(name) ? context?.source : value
  try {
    return exact.length === 0 ? JSON.parse(text) : JSON.parse(text, digits)
  } catch {
    throw new DecodeError('malformed', 'it is no JSON')
  }
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
