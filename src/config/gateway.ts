import { companyIds } from './companies.ts'
import { readDocument } from './document.ts'
import { keyOffsetOf, type Node, type Path, pathText, walk } from './node.ts'
import { portConflicts } from './ports.ts'
import type { Mistake } from './problem.ts'
import { type Config, configSchema, NOT_YET, type Protocols } from './schema.ts'

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
    ...notYet(all),
    ...portConflicts(all, protocols),
    ...companyIds(all).repeated,
  ])
  return { config: value, companyIds: root && companyIds(root).ids, mistakes }
}

function notYet(root: Node): Mistake[] {
  return walk(root)
    .filter(({ path }) => NOT_YET.some((setting) => matches(path, setting.split('.'))))
    .map(({ path }) => {
      return { at: keyOffsetOf(root, path), key: pathText(path), message: 'not yet: this version cannot do this' }
    })
    .toArray()
}

function matches(path: Path, setting: readonly string[]): boolean {
  return path.length === setting.length && setting.every((name, index) => name === '*' || name === path[index])
}
