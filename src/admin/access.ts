import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { headerToken } from '../config/leaves.ts'
import type { OidcConfig } from '../config/admin.ts'
import type { Config } from '../config/schema.ts'
import { keptText } from '../durable.ts'
import { UserError } from '../errors.ts'
import { ApiRefusal } from '../http/refusal.ts'
import { readBody } from '../tracking/body.ts'
import { EVERYTHING, Scope } from './scope.ts'

/** The caller of an operation in a form that may be shown: where its token is configured, never the token itself. */
export interface Caller {
  /** The name of the token; for an unnamed one `admin.tokens[1]`, or `admin-token` for waybridge's own. */
  readonly label: string
  /** `read` may look; `operate` may change something as well. */
  readonly role: Config['admin']['tokens'][number]['role']
  readonly scope: Scope
  /** The id of a person at the provider of `admin.oidc`; absent for a token. */
  readonly subject?: string
}

/** Why a request has no caller. */
interface NoCaller {
  readonly fault: string
}

/** Finds the person who is signed in; undefined if the request has no cookie or does not come from the page. */
export type FindPerson = (request: FastifyRequest) => Promise<Caller | NoCaller | undefined>

/** `expires`: from when on it is refused, ms UTC. */
export interface AdminToken extends Caller {
  readonly token: string
  readonly expires?: number
}

/** The tokens of the admin port. */
export interface Tokens {
  readonly tokens: readonly AdminToken[]
  /** Where a user finds one: `the file .data/admin-token`. */
  readonly place: string
}

interface TokenSettings extends Pick<Config, 'data_dir'> {
  readonly admin: Pick<Config['admin'], 'tokens'>
}

/** Returns the configured tokens; if none is configured, the one in `<data_dir>/admin-token`, which the first start creates. */
export async function adminTokens({ admin, data_dir }: TokenSettings, logger?: Logger): Promise<Tokens> {
  if (admin.tokens.length > 0)
    return {
      tokens: admin.tokens.map(({ name, companies, ...token }, index) => {
        const label = name ?? `admin.tokens[${index}]`
        return { ...token, label, scope: companies ? new Scope(companies) : EVERYTHING }
      }),
      place: 'admin.tokens of gateway.yaml',
    }
  const place = `the file ${tokenFile(data_dir)}`
  const token = sendable(await keptToken(data_dir, logger), place)
  return { tokens: [{ token, role: 'operate', label: 'admin-token', scope: EVERYTHING }], place }
}

/**
 * What somebody in these groups may do: the strongest role that one of them has, for the companies of those that have it. So
 * nobody may do what none of their groups may. Undefined: no group is listed.
 */
export function grantOf(
  groups: readonly string[],
  roles: OidcConfig['roles'],
): Pick<Caller, 'role' | 'scope'> | undefined {
  const listed = groups.filter((group) => Object.hasOwn(roles, group)).map((group) => roles[group])
  if (listed.length === 0) return undefined
  const role = listed.some((each) => each.role === 'operate') ? 'operate' : 'read'
  const companies = listed.filter((each) => each.role === role).map((each) => each.companies)
  return { role, scope: companies.includes(null) ? EVERYTHING : new Scope(companies.flatMap((ids) => ids ?? [])) }
}

/** The token, checked: an HTTP header must be able to carry it. @param place where it comes from @throws UserError */
export function sendable(token: string, place: string): string {
  const read = headerToken.safeParse(token)
  if (read.success) return read.data
  throw new UserError(`The token of ${place} cannot be sent: ${read.error.issues[0].message}.`)
}

/** The URL of the admin port, as a browser on this machine reaches it. */
export function portAddress({ host, tls }: Pick<Config['admin'], 'host' | 'tls'>, port: number): string {
  const name = ANY_HOST.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls ? 'https' : 'http'}://${name}:${port}`
}

const ANY_HOST = new Set(['0.0.0.0', '::', '::0'])

/** The address that opens the page, with its token: the browser does not send what follows the #. */
export function pageAddress(url: string, token: string): string {
  return `${url}/#token=${encodeURIComponent(token.trim())}`
}

/** Returns the path of the token file that waybridge creates if the configuration has no token. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token')
}

/**
 * Returns a hook that sets `request.caller`. It answers 401 without a known, unexpired token or a person who is signed in,
 * and 403 if a caller with the role `read` asks for a change. A wrong token takes as long to check as a right one.
 */
export function accessBy(tokensNow: () => readonly AdminToken[], personOf?: FindPerson) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const caller = await callerOf(request, tokensNow(), personOf)
    if ('fault' in caller) {
      const message = `${caller.fault}; ${WHERE}`
      return reply.code(401).header('www-authenticate', 'Bearer').send({ message })
    }
    request.caller = caller
    request.isStillPermitted = async () => {
      const now = await callerOf(request, tokensNow(), personOf)
      return 'scope' in now && now.role === caller.role && now.scope.key === caller.scope.key
    }
    if (caller.role === 'operate' || request.change === undefined) return undefined
    const needed = `${request.method} needs a token with the role operate; ${WHERE}`
    const message =
      caller.subject === undefined
        ? `this token may only read: ${needed}`
        : `your groups may only read: ${request.method} needs one with the role operate`
    return reply.code(403).send({ message })
  }
}

/** Reads the body of a request. @throws ApiRefusal as `readBody` does, and with 401 if the caller's permission ended meanwhile */
export async function readRequestBody(request: FastifyRequest, maxBytes?: number): Promise<Buffer> {
  const bytes = await readBody(request.raw, maxBytes)
  if ((await request.isStillPermitted?.()) === false) throw new ApiRefusal(401, `the permission has ended; ${WHERE}`)
  return bytes
}

/** Resolves to the caller: the one with the token of the request; without a token, the person who is signed in. */
export async function callerOf(
  request: FastifyRequest,
  tokens: readonly AdminToken[],
  personOf?: FindPerson,
): Promise<Caller | NoCaller> {
  const person = request.headers.authorization === undefined ? await personOf?.(request) : undefined
  return person ?? tokenOf(request, tokens)
}

function tokenOf({ headers }: FastifyRequest, tokens: readonly AdminToken[]): Caller | NoCaller {
  const presented = /^Bearer +(.*\S)/i.exec(headers.authorization ?? '')?.[1]
  const sent = digest(presented ?? '')
  // Compares with all, also after a match.
  const known = tokens.map(({ token }) => timingSafeEqual(digest(token), sent)).indexOf(true)
  if (known < 0) {
    const fault = presented === undefined ? 'the token is missing' : 'the token is unknown'
    return { fault: `${fault}: send the header "Authorization: Bearer <token>"` }
  }
  const { label, role, scope, expires = Infinity } = tokens[known]
  return expires <= Date.now()
    ? { fault: `the token ${label} has expired: ask for another one` }
    : { label, role, scope }
}

/**
 * Returns a hook that answers 401 if `/metrics` needs a token and the request has neither that token nor a token of the admin
 * port for all companies. `metricsToken`: returns the present token; null: `/metrics` needs none.
 */
export function metricsAccess(metricsToken: () => string | null, tokens: () => readonly AdminToken[] = () => []) {
  const access = accessBy(() => {
    const own = { token: metricsToken() ?? '', label: 'admin.metrics_token', role: 'read', scope: EVERYTHING } as const
    return [own, ...tokens().filter(({ scope }) => scope.isAll)]
  })
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    metricsToken() === null ? undefined : access(request, reply)
}

async function keptToken(dataDir: string, logger?: Logger): Promise<string> {
  const file = tokenFile(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { text, is } = await keptText(file, {
    isWhole: (kept) => /[^\s\0]/.test(kept),
    make: () => `${randomBytes(32).toString('base64url')}\n`,
  })
  if (is === 'replaced')
    logger?.warn(`${file} was empty, as after a loss of power or with a full disk: the admin port has a new token`)
  return text.trim()
}

/** An answer does not name the file of a token: that would help an attacker. */
const WHERE = 'the log of the start says where the tokens are'

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
