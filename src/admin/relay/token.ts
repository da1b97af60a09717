import type { Company } from '../../config/schema.ts'
import type { Logger } from '../../observe/log.ts'
import { isSuccess } from '../../tracking/exchange.ts'

export type TokenWatch = ReturnType<typeof watchTokens>

/**
 * Knows the companies whose OAuth tokens the tracking API refuses, as far as this process has used them. An operator must
 * replace a refused token: it is also logged, once a minute for each company.
 */
export function watchTokens(companies: () => readonly Company[], logger: Logger) {
  const refusedTokens = new Map<string, string | undefined>()
  const loggedAt = new Map<string, number>()
  return {
    /** Notes the status that answered a request with a company's token. */
    answered({ company_id, oauth_token }: Company, status: number): void {
      const isAccepted = isSuccess(status) || AFTER_TOKEN_CHECK.has(status)
      if (isAccepted && refusedTokens.get(company_id) === oauth_token) refusedTokens.delete(company_id)
      if (status !== 401) return
      refusedTokens.set(company_id, oauth_token)
      const now = performance.now()
      if (now - (loggedAt.get(company_id) ?? -Infinity) < LOG_EVERY_MS) return
      loggedAt.set(company_id, now)
      const message = `the tracking API refuses the oauth_token of company ${company_id}: get a new one, and put it into gateway.yaml`
      logger.error({ company_id, reason: '401' }, message)
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
const LOG_EVERY_MS = 60_000
