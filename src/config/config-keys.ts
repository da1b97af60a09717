import * as z from 'zod'

/** One key of a configuration file, as its schema describes it. */
export interface ConfigKey {
  readonly name: string
  /** The default as written in YAML; absent if the key has none. */
  readonly usual?: string
  readonly isRequired: boolean
  readonly description: string
  readonly inner?: readonly ConfigKey[]
  /** The keys of each mapping of a list. */
  readonly element?: readonly ConfigKey[]
  /** Whether it may be null; a mapping is null if nothing follows its name. */
  readonly isNullable: boolean
}

export function configKeysOf(schema: z.core.$ZodType): ConfigKey[] {
  return keysIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}

type KeySchema = z.core.JSONSchema.BaseSchema

function keysIn({ properties = {}, required = [] }: KeySchema): ConfigKey[] {
  return (Object.entries(properties) as [string, KeySchema][]).map(([name, schema]) => {
    const { anyOf, description = '', default: value, usual = value } = schema
    const content = anyOf?.[0] ?? schema
    const element = keysIn((content.items ?? {}) as KeySchema)
    return {
      name,
      description,
      usual: textOf(usual),
      isRequired: required.includes(name) && usual === undefined && !content.properties,
      isNullable: anyOf !== undefined,
      ...(content.properties && { inner: keysIn(content) }),
      ...(element.length > 0 && { element }),
    }
  })
}

/** Returns a single value, or an empty list, as written in YAML. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value || '""'
  const text = JSON.stringify(value) as string | undefined
  return text !== '[]' && typeof value === 'object' && value !== null ? undefined : text
}
