import { hash, randomBytes } from 'node:crypto'
import type { CompanyCredentials } from '../provisioning.ts'

/** Whose secrets are which. */
export interface Access {
  /** The companies that a secret belongs to; none where it is unknown. */
  companiesOfApikey(apikey: string): ReadonlySet<string>
  companiesOfToken(token: string): ReadonlySet<string>
}

/**
 * Indexes the companies' secrets. They are found by a digest salted with random bytes: how long a comparison takes says
 * something about digests that no caller can compute, nothing about the secret.
 */
export function createAccess(companies: readonly CompanyCredentials[]): Access {
  const salt = randomBytes(16).toString('hex')
  const digest = (secret: string) => hash('sha256', salt + secret, 'base64')
  const owners = (secrets: 'apikeys' | 'oauth_tokens') =>
    setsBy(companies.flatMap((company) => company[secrets].map((secret) => [digest(secret), company.company_id])))
  const apikeys = owners('apikeys')
  const tokens = owners('oauth_tokens')
  return {
    companiesOfApikey: (apikey) => apikeys.get(digest(apikey)) ?? NONE,
    companiesOfToken: (token) => tokens.get(digest(token)) ?? NONE,
  }
}

function setsBy(pairs: string[][]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>()
  for (const [key, value] of pairs) {
    const set = sets.get(key)
    if (set) set.add(value)
    else sets.set(key, new Set([value]))
  }
  return sets
}

const NONE: ReadonlySet<string> = new Set()
