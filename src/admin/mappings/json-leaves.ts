export type PathStep = string | number

/** A value that stands at one path in all samples. */
export interface JsonLeaf {
  readonly steps: readonly PathStep[]
  /**
   * The name of the value or of the list that contains it (`gpsLat` becomes `gps_lat`), after the name of the object around
   * it.
   */
  readonly name: string
  readonly fullName: string
  readonly values: unknown[]
}

/** Returns the scalars of the samples by path; all elements of a list of objects share one path. */
export function leavesOf(samples: readonly unknown[]): JsonLeaf[] {
  const leaves = new Map<string, JsonLeaf>()
  const left = samples.slice(0, MOST_SAMPLES).map((value) => ({ steps: [] as PathStep[], name: '', parent: '', value }))
  for (let next = left.pop(); next && leaves.size < MOST_LEAVES; next = left.pop()) {
    const { steps, name, parent, value } = next
    if (steps.length > DEEPEST || value === null) continue
    if (Array.isArray(value)) {
      const isOfScalars = value.every((each) => typeof each !== 'object')
      for (const [index, each] of value.slice(0, MOST_ELEMENTS).entries())
        left.push({ steps: [...steps, isOfScalars ? index : EVERY], name, parent, value: each })
    } else if (typeof value === 'object') {
      // The last one is taken first.
      for (const [key, each] of Object.entries(value).toReversed())
        if (!/["\\]/.test(key) && key.length <= LONGEST_NAME)
          left.push({ steps: [...steps, key], name: spread(key), parent: name, value: each })
    } else {
      const key = JSON.stringify(steps)
      const leaf = leaves.get(key) ?? { steps, name, fullName: `${parent}_${name}`, values: [] }
      if (value !== '') leaf.values.push(value)
      leaves.set(key, leaf)
    }
  }
  return [...leaves.values()].filter(({ values }) => values.length > 0)
}

export function isBeside(one: JsonLeaf, other: JsonLeaf): boolean {
  return one.steps.length === other.steps.length && startsWith(other.steps, one.steps.slice(0, -1))
}

export function startsWith(steps: readonly PathStep[], beginning: readonly PathStep[]): boolean {
  return beginning.every((step, at) => steps[at] === step)
}

export function sharedSteps(one: readonly PathStep[], other: readonly PathStep[]): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count++
  return count
}

/** The path of a leaf: from the entry on if it is in one. */
export function pathOf(leaf: Pick<JsonLeaf, 'steps'> | undefined, each: readonly PathStep[]): string | undefined {
  if (!leaf) return undefined
  const isInEntry = each.length > 0 && startsWith(leaf.steps, each)
  return isInEntry ? textOf(leaf.steps.slice(each.length), false) : textOf(leaf.steps, true)
}

export function textOf(steps: readonly PathStep[], isWhole: boolean): string {
  const parts = steps.map((step) => {
    if (step === EVERY) return '[*]'
    if (typeof step === 'number') return `[${step}]`
    return /^[^.[\]"'\s$*]+$/.test(step) ? `.${step}` : `["${step}"]`
  })
  return isWhole ? `$${parts.join('')}` : parts.join('').replace(/^\./, '')
}

/** `gpsLat`, `GPS-Lat` and `gps.lat` as `gps_lat`. */
export function spread(name: string): string {
  return name
    .slice(-60)
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase()
}

/** In a path: any element of a list of objects. */
export const EVERY = '*'
const MOST_SAMPLES = 20
const MOST_LEAVES = 500
const MOST_ELEMENTS = 5
const DEEPEST = 10
const LONGEST_NAME = 100
