import { itemsAt, type Node, offsetOf, pathText, textAt } from './node.ts'
import type { Mistake } from './problem.ts'
import { int64 } from './units.ts'

/** The ids of all companies of a file, of those with mistakes too, and which stand there twice. */
export function companyIds(root: Node): { ids: ReadonlySet<string>; repeated: readonly Mistake[] } {
  const ids = new Set<string>()
  const repeated: Mistake[] = []
  for (const [index, company] of itemsAt(root, 'companies').entries()) {
    const id = int64(textAt(company, 'company_id') ?? '')
    if (id === undefined) continue
    const path = ['companies', index, 'company_id']
    if (ids.has(id))
      repeated.push({ at: offsetOf(root, path), key: pathText(path), message: `company ${id} stands here twice` })
    ids.add(id)
  }
  return { ids, repeated }
}
