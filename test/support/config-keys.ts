import type { z } from 'zod'
import { type ConfigKey, configKeysOf } from '../../src/config/config-keys.ts'

/** One key of a configuration file, as in config/reference.yaml; `key` is `push.timeout`, `companies[].apikey`. */
type FlatKey = Pick<ConfigKey, 'usual' | 'isRequired' | 'description'> & { readonly key: string }

/** Every key of a schema in its order; the keys of a mapping follow the mapping, where that is described itself. */
export function configKeys(schema: z.core.$ZodType): FlatKey[] {
  return flat(configKeysOf(schema), '')
}

function flat(keys: readonly ConfigKey[], prefix: string): FlatKey[] {
  return keys.flatMap(({ name, inner, element, ...rest }) => {
    const own = inner && rest.description === '' ? [] : [{ key: prefix + name, ...rest }]
    return [...own, ...flat(inner ?? [], `${prefix}${name}.`), ...flat(element ?? [], `${prefix}${name}[].`)]
  })
}
