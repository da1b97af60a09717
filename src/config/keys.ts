import type { z } from 'zod'

/** One key of a configuration file, as its schema describes it. */
export interface ConfigKey {
  readonly name: string
  /** The default as one writes it in YAML; absent where the key has none. */
  readonly usual?: string
  readonly isRequired: boolean
  readonly description: string
  /** The keys of a mapping. */
  readonly inner?: readonly ConfigKey[]
  /** The keys of each mapping of a list. */
  readonly element?: readonly ConfigKey[]
  /** Whether it may be null: then a mapping is null where nothing stands behind its name. */
  readonly isNullable: boolean
}

/** The keys of a schema in their order. */
export function keysOf(schema: z.core.$ZodType): ConfigKey[] {
  return Object.entries(unwrap(schema).shape ?? {}).map(([name, type]) => {
    const { shape, element, isRequired, ...rest } = unwrap(type)
    return {
      name,
      ...rest,
      isRequired: isRequired && !shape,
      ...(shape && { inner: keysOf(type) }),
      ...(element && unwrap(element).shape && { element: keysOf(element) }),
    }
  })
}

interface Unwrapped {
  readonly description: string
  readonly usual?: string
  readonly isRequired: boolean
  readonly isNullable: boolean
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
}

/** What a schema says below its wrappers: its default, its description, and the object or list that it is. */
function unwrap(type: z.core.$ZodType): Unwrapped {
  const { def, description = '' } = type as z.ZodType & { def: Def }
  switch (def.type) {
    case 'object':
      return { description, isRequired: true, isNullable: false, shape: def.shape }
    case 'array':
      return { description, isRequired: true, isNullable: false, element: def.element }
    case 'prefault':
      return { ...below(def.innerType, description), isRequired: false, usual: textOf(def.defaultValue) }
    case 'nullable':
      return { ...below(def.innerType, description), isNullable: true }
    case 'optional':
      return { ...below(def.innerType, description), isRequired: false }
    case 'pipe':
      if (def.in?.def.type === 'object') return below(def.in, description)
      if (def.in?.def.transform) return preprocessed(def, description)
      return { description, isRequired: true, isNullable: false }
    case 'record':
      return { description, isRequired: true, isNullable: false }
    default:
      throw new Error(`no text for a ${def.type}`)
  }
}

/** What the definitions of schemas have that occur in the configuration. */
interface Def {
  readonly type: string
  readonly shape?: Unwrapped['shape']
  readonly defaultValue?: unknown
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly in?: z.core.$ZodType & { readonly def: { readonly type: string; transform?(value: unknown): unknown } }
  readonly out?: z.core.$ZodType
}

function below(inner: z.core.$ZodType | undefined, description: string): Unwrapped {
  const unwrapped = unwrap(inner!)
  return { ...unwrapped, description: description || unwrapped.description }
}

/** A section or a list that may be left out; only a list that is then not empty has no default to show. */
function preprocessed({ in: before, out }: Def, description: string): Unwrapped {
  const usual = before?.def.transform?.(undefined)
  const unwrapped = below(out, description)
  if (!Array.isArray(usual)) return unwrapped
  return { ...unwrapped, isRequired: false, usual: usual.length > 0 ? undefined : '[]' }
}

function textOf(value: unknown): string | undefined {
  if (value === '') return '""'
  return typeof value === 'object' && value !== null ? undefined : String(value)
}
