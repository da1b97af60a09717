import * as z from 'zod'

/** Most wrong fields that a refusal names. */
export const MAX_ERRORS = 20

/** A list whose length is looked at before its objects are. */
export function listOf<Schema extends z.ZodType>(
  schema: Schema,
  { min, max = Infinity }: { readonly min: number; readonly max?: number },
) {
  const mistake = `expected an array of ${max === Infinity ? `${min} or more` : `${min} to ${max}`} objects`
  const list = z.array(schema).min(min)
  return z
    .array(z.unknown(), mistake)
    .refine(({ length }) => length >= min && length <= max, { error: mistake, abort: true })
    .superRefine(firstMistakes(schema))
    .pipe(max === Infinity ? list : list.max(max))
}

/** A body of 4 MiB holds two million wrong objects: in a long list only the first mistakes are looked for. */
function firstMistakes(schema: z.ZodType) {
  return (objects: readonly unknown[], context: z.RefinementCtx<unknown[]>) => {
    if (objects.length <= LONG_LIST) return
    for (const [index, object] of objects.entries()) {
      const { error } = schema.safeParse(object)
      for (const { path, message } of error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [index, ...path], message })
      if (context.issues.length >= MAX_ERRORS) return
    }
  }
}

/** A list that has no value of a field twice. */
export function withoutRepeats<Entry>(list: z.ZodType<Entry[]>, field: keyof Entry & string) {
  return list.superRefine((entries, context) => {
    const seen = new Set<string>()
    for (const [index, entry] of entries.entries()) {
      const value = String(entry[field])
      if (seen.has(value)) context.addIssue({ code: 'custom', path: [index, field], message: 'this body has it twice' })
      seen.add(value)
    }
  })
}

const LONG_LIST = 1_000
