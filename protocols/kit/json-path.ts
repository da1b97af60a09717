import { type JsonObject } from './text.ts'

/** A step of a path: the name of a member, the index of an element, or '*': every element. */
type JsonStep = string | number

/** Where a value stands in JSON: `$.gps.lat` from the message on, `points[0].lat` from the entry on. */
export interface JsonPath {
  readonly from: 'message' | 'entry'
  readonly steps: readonly JsonStep[]
}

/** Finds the value at a path; undefined if there is none. */
export type FindValue = (entry: unknown, message: unknown) => unknown

/**
 * Reads the text of a path: `$` is the message, a name without it begins in the entry. `.name`, `["any name"]`, `[0]` and `[*]`
 * lead on; `-1` is the last element. Undefined if it is no path.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (text.length > LONGEST) return undefined
  const isWhole = text.startsWith('$')
  // A relative path is read as one from `$.`, or `$` before a bracket.
  const rest = isWhole ? text.slice(1) : text.startsWith('[') ? text : `.${text}`
  const steps: JsonStep[] = []
  let at = 0
  while (at < rest.length) {
    STEP.lastIndex = at
    const match = STEP.exec(rest)
    if (!match) return undefined
    const [whole, name, double, single, index] = match
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? double ?? single ?? EVERY)
    at += whole.length
  }
  if (steps.length > MOST_STEPS || (!isWhole && steps.length === 0)) return undefined
  return { from: isWhole ? 'message' : 'entry', steps }
}

/** The text of a path, as `parseJsonPath` reads it. */
export function jsonPathText({ from, steps }: JsonPath): string {
  const text = steps.map((step) => {
    if (step === EVERY) return '[*]'
    if (typeof step === 'number') return `[${step}]`
    return PLAIN_NAME.test(step) ? `.${step}` : `["${step}"]`
  })
  const joined = text.join('')
  return from === 'message' ? `$${joined}` : joined.replace(/^\./, '')
}

/** Compiles a path that leads to one value. An index into text finds its part between commas: `latlng[1]` of "54.6,25.2". */
export function compileJsonPath({ from, steps }: JsonPath): FindValue {
  const find = finderOf(steps)
  return from === 'entry' ? (entry) => find(entry) : (_entry, message) => find(message)
}

/** Compiles a path to a list of values: those that its `[*]` stand for, or the elements of the list at its end. */
export function compileJsonList({ steps }: JsonPath): (message: unknown) => readonly unknown[] | undefined {
  const above = steps.at(-1) === EVERY ? steps.slice(0, -1) : steps
  if (!above.includes(EVERY)) {
    const find = finderOf(above)
    return (message) => {
      const list = find(message)
      return Array.isArray(list) ? list : undefined
    }
  }
  return (message) => {
    let found: unknown[] = [message]
    let isList = false
    for (const step of steps) {
      if (step !== EVERY) found = found.map((value) => valueIn(value, step)).filter((value) => value !== undefined)
      else {
        const lists = found.filter(Array.isArray)
        isList ||= lists.length > 0
        found = lists.flat()
      }
    }
    const [first] = found
    return isList ? found : Array.isArray(first) ? first : undefined
  }
}

type Find = (value: unknown) => unknown

/** Most paths are short names: without a loop they take half of the time. */
function finderOf(steps: readonly JsonStep[]): Find {
  const [first, second] = steps
  const isNames = steps.every((step) => typeof step === 'string')
  if (!isNames || steps.length < 1 || steps.length > 2) return all(steps)
  return steps.length === 1 ? one(first) : two(first, second)
}

function one(name: JsonStep): Find {
  return (value) => (value as JsonObject | null | undefined)?.[name]
}

function two(name: JsonStep, next: JsonStep): Find {
  return (value) => ((value as JsonObject | null | undefined)?.[name] as JsonObject | null | undefined)?.[next]
}

function all(steps: readonly JsonStep[]): Find {
  return (value) => {
    let found = value
    for (const step of steps) {
      found = valueIn(found, step)
      if (found === undefined) return undefined
    }
    return found
  }
}

function valueIn(value: unknown, step: JsonStep): unknown {
  if (typeof step === 'string') return typeof value === 'object' ? (value as JsonObject | null)?.[step] : undefined
  if (typeof value === 'string') return value.split(',', MOST_PARTS).at(step)?.trim()
  return Array.isArray(value) ? value.at(step) : undefined
}

const EVERY = '*'
const STEP = /\.([^.[\]"'\s]+)|\["([^"\\]+)"\]|\['([^'\\]+)'\]|\[(-?\d{1,5})\]|\[\*\]/y
const PLAIN_NAME = /^[^.[\]"'\s$*][^.[\]"'\s]*$/
const LONGEST = 300
const MOST_STEPS = 16
const MOST_PARTS = 100
