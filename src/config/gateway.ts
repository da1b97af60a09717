import { companyIds } from './companies.ts'
import { readDocument } from './document.ts'
import { portConflicts } from './ports.ts'
import type { Mistake } from './problem.ts'
import { type Config, configSchema, type Protocols } from './schema.ts'

/** What gateway.yaml says. */
export interface Gateway {
  /** Absent where there are mistakes. */
  readonly config?: Config
  /** The ids of all companies, of those with mistakes too; absent where the file is no YAML. */
  readonly companyIds?: ReadonlySet<string>
  readonly mistakes: readonly Mistake[]
}

/** Reads gateway.yaml; an empty one is all defaults. */
export function readGateway(text: string, protocols: Protocols): Gateway {
  const { root, value, mistakes } = readDocument(text, configSchema(protocols), (all) => [
    ...portConflicts(all, protocols),
    ...companyIds(all).repeated,
  ])
  return { config: value, companyIds: root && companyIds(root).ids, mistakes }
}
