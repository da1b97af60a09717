import type { z } from 'zod'
import { child, keyOffsetOf, type Node, offsetOf, type Path, pathText, textAt, valueOf, walk } from './node.ts'
import { portConflicts } from './ports.ts'
import type { Mistake } from './problem.ts'
import { type Config, configSchema, NOT_YET, type Protocols } from './schema.ts'
import { int64 } from './units.ts'
import { parseYaml, repeatedKeys, withoutEchoes } from './yaml.ts'

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
  const { root = EMPTY, mistakes } = parseYaml(text)
  if (root === EMPTY && mistakes.length > 0) return { mistakes }
  const parsed = configSchema(protocols).safeParse(valueOf(root, ({ text: scalar }) => scalar))
  const companies = companyIds(root)
  const meaning = [
    ...repeatedKeys(root),
    ...(parsed.error?.issues.flatMap((issue) => mistakesOf(issue, root)) ?? []),
    ...portConflicts(root, protocols),
    ...companies.repeated,
  ]
  const all = withoutEchoes([...mistakes, ...notYet(root)], meaning)
  return { config: all.length === 0 ? parsed.data : undefined, companyIds: companies.ids, mistakes: all }
}

function mistakesOf(issue: z.core.$ZodIssue, root: Node): Mistake[] {
  if (issue.code !== 'unrecognized_keys')
    return [{ at: offsetOf(root, issue.path), key: pathText(issue.path) || undefined, message: issue.message }]
  const messages = issue.message.split('\n')
  return issue.keys.map((key, index) => {
    const path = [...issue.path, key]
    return { at: keyOffsetOf(root, path), key: pathText(path), message: messages[index] }
  })
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

function companyIds(root: Node): { ids: Set<string>; repeated: Mistake[] } {
  const ids = new Set<string>()
  const repeated: Mistake[] = []
  const companies = child(root, 'companies')
  const items = companies?.kind === 'sequence' ? companies.items : []
  for (const [index, company] of items.entries()) {
    const id = int64(textAt(company, 'company_id') ?? '')
    if (id === undefined) continue
    const path = ['companies', index, 'company_id']
    if (ids.has(id))
      repeated.push({ at: offsetOf(root, path), key: pathText(path), message: `company ${id} stands here twice` })
    ids.add(id)
  }
  return { ids, repeated }
}

const EMPTY: Node = { kind: 'mapping', at: 0, entries: [] }
