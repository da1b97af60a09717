import type { z } from 'zod'
import { keyOffsetOf, type Node, offsetOf, pathText, valueOf } from './node.ts'
import type { Mistake } from './problem.ts'
import { parseYaml, repeatedKeys, withoutEchoes } from './yaml.ts'

/** What a YAML file says. */
export interface Document<Value> {
  /** Absent where the file is no YAML. */
  readonly root?: Node
  /** Absent where there are mistakes. */
  readonly value?: Value
  readonly mistakes: readonly Mistake[]
}

/**
 * Reads a YAML file by a schema whose scalars may be text; an empty file is an empty mapping.
 * @param also finds what is wrong beyond the schema, in files with other mistakes too
 */
export function readDocument<Value>(
  text: string,
  schema: z.ZodType<Value>,
  also: (root: Node) => readonly Mistake[],
): Document<Value> {
  const { root = EMPTY, mistakes } = parseYaml(text)
  if (root === EMPTY && mistakes.length > 0) return { mistakes }
  const parsed = schema.safeParse(valueOf(root, ({ text: scalar }) => scalar))
  const found = parsed.error?.issues.flatMap((issue) => mistakesOf(issue, root)) ?? []
  const all = withoutEchoes(mistakes, [...repeatedKeys(root), ...found, ...also(root)])
  return { root, value: all.length === 0 ? parsed.data : undefined, mistakes: all }
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

const EMPTY: Node = { kind: 'mapping', at: 0, entries: [] }
