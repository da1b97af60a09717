import { useEffect, useState } from 'preact/hooks'
import type { TokenJson } from '../../admin/schemas/access.ts'
import { words } from '../words/index.ts'
import { api } from './api.ts'
import { onRefusal } from './client.ts'
import { token } from './session.ts'

let asked: { readonly token: string | undefined; readonly answer: Promise<TokenJson | undefined> } | undefined
// The next person may be another one.
onRefusal(() => (asked = undefined))

/** Returns why the caller may not change anything; undefined: it may, or that is not known yet. */
export function useMayNot(): string | undefined {
  const [role, setRole] = useState<TokenJson['role']>()
  useEffect(() => {
    let isThere = true
    void answered().then((answer) => isThere && setRole(answer?.role))
    return () => void (isThere = false)
  }, [])
  return role === 'read' ? words.mayNot : undefined
}

/** Asks once for each token or person. If that fails, the admin port will refuse forbidden changes. */
function answered(): Promise<TokenJson | undefined> {
  if (asked?.token !== token()) asked = undefined
  asked ??= {
    token: token(),
    answer: api.token().catch(() => {
      asked = undefined
      return undefined
    }),
  }
  return asked.answer
}
