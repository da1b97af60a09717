import type { Company } from '../../config/schema.ts'
import { isSuccess } from '../../tracking/exchange.ts'

export type TokenWatch = ReturnType<typeof watchTokens>

/** Knows the companies whose OAuth tokens the tracking API refuses, as far as this process has used them. */
export function watchTokens(companies: () => readonly Company[]) {
  const refusedTokens = new Map<string, string | undefined>()
  return {
    /** Notes the status that answered a request with a company's token. */
    answered({ company_id, oauth_token }: Company, status: number): void {
      const isAccepted = isSuccess(status) || AFTER_TOKEN_CHECK.has(status)
      if (isAccepted && refusedTokens.get(company_id) === oauth_token) refusedTokens.delete(company_id)
      if (status === 401) refusedTokens.set(company_id, oauth_token)
    },
    /** Ids of the companies whose present token was refused, and not accepted since. */
    refused(): string[] {
      return companies()
        .filter(({ company_id, oauth_token }) => oauth_token && refusedTokens.get(company_id) === oauth_token)
        .map(({ company_id }) => company_id)
    },
  }
}

/** Refusals that come after the check of the token. */
const AFTER_TOKEN_CHECK: ReadonlySet<number> = new Set([400, 403, 404, 422])
