import type { Company } from '../../config/schema.ts'
import type { Logger } from '../../observe/log.ts'
import { isSuccess } from '../../tracking/client/exchange.ts'

/** Which companies' OAuth tokens the service refuses, as far as this process has asked it. */
export interface TokenWatch {
  /** What a request with a company's token was answered with. */
  answered(company: Company, status: number): void
  /** Ids of the companies whose token of now was refused, and not taken since. */
  refused(): string[]
}

/** A refusal is an operator's problem: the log says so as well, once a minute for each company. */
export function watchTokens(companies: () => readonly Company[], logger: Logger): TokenWatch {
  const refusedTokens = new Map<string, string | undefined>()
  const loggedAt = new Map<string, number>()

  function log(company_id: string): void {
    const now = performance.now()
    if (now - (loggedAt.get(company_id) ?? -Infinity) < LOG_EVERY_MS) return
    loggedAt.set(company_id, now)
    logger.error(
      { company_id, reason: '401' },
      `the tracking API refuses the oauth_token of company ${company_id}: get a new one, and put it into gateway.yaml`,
    )
  }

  return {
    answered: ({ company_id, oauth_token }, status) => {
      if (status === 401) {
        refusedTokens.set(company_id, oauth_token)
        log(company_id)
      } else if (wasTaken(status) && refusedTokens.get(company_id) === oauth_token) refusedTokens.delete(company_id)
    },
    refused: () =>
      companies()
        .filter(({ company_id, oauth_token }) => oauth_token && refusedTokens.get(company_id) === oauth_token)
        .map(({ company_id }) => company_id),
  }
}

/** A success, or a refusal for which a service has looked behind the token. */
function wasTaken(status: number): boolean {
  return isSuccess(status) || LOOKED_BEHIND.has(status)
}

const LOOKED_BEHIND: ReadonlySet<number> = new Set([400, 403, 404, 422])
const LOG_EVERY_MS = 60_000
