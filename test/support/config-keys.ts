import type { z } from 'zod'

/** One key of a configuration file, for the reference in config/README.md. */
export interface ConfigKey {
  /** `push.timeout`, `companies[].apikey` */
  readonly key: string
  /** As one writes it in YAML; absent where the key has no default. */
  readonly usual?: string
  readonly isRequired: boolean
  readonly description: string
}

/** Every key of a schema in its order; the keys of a mapping follow the mapping, where that is described itself. */
export function configKeys(schema: z.core.$ZodType, prefix = ''): ConfigKey[] {
  const { shape = {} } = unwrap(schema)
  return Object.entries(shape).flatMap(([name, type]) => {
    const { usual, description, isRequired, shape: inner, element } = unwrap(type)
    const key = prefix + name
    const own = inner && description === '' ? [] : [{ key, usual, description, isRequired: isRequired && !inner }]
    if (inner) return [...own, ...configKeys(type, `${key}.`)]
    return element ? [...own, ...configKeys(element, `${key}[].`)] : own
  })
}

interface Unwrapped {
  readonly description: string
  readonly usual?: string
  readonly isRequired: boolean
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
}

/** What a schema says below its wrappers: its default, its description, and the object or list that it is. */
function unwrap(type: z.core.$ZodType): Unwrapped {
  const { def, description = '' } = type as z.ZodType & { def: Def }
  switch (def.type) {
    case 'object':
      return { description, isRequired: true, shape: def.shape }
    case 'array':
      return { description, isRequired: false, usual: '[]', element: def.element }
    case 'prefault':
      return { ...below(def.innerType, description), isRequired: false, usual: textOf(def.defaultValue) }
    case 'nullable':
      return below(def.innerType, description)
    case 'optional':
      return { ...below(def.innerType, description), isRequired: false }
    case 'pipe':
      return def.in?.def.transform ? preprocessed(def, description) : { description, isRequired: true }
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
  readonly in?: { readonly def: { transform?(value: unknown): unknown } }
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
  return Array.isArray(usual) && usual.length > 0 ? { ...unwrapped, usual: undefined } : unwrapped
}

function textOf(value: unknown): string | undefined {
  if (value === '') return '""'
  return typeof value === 'object' && value !== null ? undefined : String(value)
}
