import type { Operation } from './operation.ts'
import { TokenJson } from './schemas/access.ts'

/** `GET /admin/token`: what the caller may do. */
export function tokenOperation(): Operation {
  return {
    method: 'GET',
    path: '/admin/token',
    id: 'getToken',
    summary: 'Get the name and the role of the token of this request, and its companies',
    answer: TokenJson,
    companies: 'filtered',
    async handle({ caller }, _reply, scope) {
      return { name: caller?.label, role: caller?.role, companies: scope.companies ? [...scope.companies] : undefined }
    },
  }
}
