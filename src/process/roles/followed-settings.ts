import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config/schema.ts'
import type { Roster } from '../../roster/roster.ts'

/** The tokens of the admin port, and the one of `/metrics`. */
export type AdminTokenSettings = Pick<Config['admin'], 'tokens' | 'metrics_token'>

/**
 * What of gateway.yaml takes effect without a restart: the companies and the tokens of the admin port. Their secrets may stand in
 * files of their own (`${file:/path}`), which are followed as gateway.yaml is.
 */
export class FollowedSettings {
  #companies: Config['companies']
  #admin: AdminTokenSettings

  constructor({ companies, admin }: Config) {
    this.#companies = companies
    this.#admin = { tokens: admin.tokens, metrics_token: admin.metrics_token }
  }

  get companies(): Config['companies'] {
    return this.#companies
  }

  /** A new object after each change. */
  get admin(): AdminTokenSettings {
    return this.#admin
  }

  /**
   * Takes over the settings of gateway.yaml; the roster tells which removed companies stay. Returns whether anything
   * changed.
   */
  update({ companies: listed, admin: { tokens, metrics_token } }: Config, roster: Roster): boolean {
    const companies = this.#companiesWith(listed, roster)
    const admin = { tokens, metrics_token }
    if (isDeepStrictEqual([companies, admin], [this.#companies, this.#admin])) return false
    this.#companies = companies
    this.#admin = admin
    return true
  }

  /**
   * A company that is removed from gateway.yaml stays while it has devices: without its key their fixes could not be
   * pushed.
   */
  #companiesWith(listed: Config['companies'], roster: Roster): Config['companies'] {
    const ids = new Set(listed.map(({ company_id }) => company_id))
    const retained = this.#companies.filter(({ company_id }) => !ids.has(company_id) && hasDevices(company_id, roster))
    return [...listed, ...retained]
  }
}

function hasDevices(company: string, roster: Roster): boolean {
  for (const { company_id } of roster.devices()) if (company_id === company) return true
  return false
}
