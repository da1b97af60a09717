import { z } from 'zod'
import { isLoopback } from '../domain/networks.ts'
import { timesIn } from '../domain/times.ts'
import {
  address,
  fields,
  flag,
  headerToken,
  id,
  leaf,
  list,
  oneOf,
  orNull,
  printableText,
  section,
  setting,
} from './leaves.ts'
import { certificate } from './listener.ts'

/** `admin`. Its tokens and sessions allow every change, so they must not cross a network unencrypted. */
export function admin(dir: string) {
  return section({
    ...address('127.0.0.1', 8080),
    tls: orNull(fields(certificate(dir))).describe('Certificate of the port; null: HTTP without TLS.'),
    behind_proxy: setting(flag, false, 'A proxy with TLS is in front of the port.'),
    metrics_token: orNull(headerToken).describe('Token that `/metrics` wants; null: none.'),
    tokens: tokens.describe('Access tokens; if empty, the first start creates one.'),
    oidc: orNull(oidc).describe('Sign-in of people to the page, by OpenID Connect; null: the page takes tokens alone.'),
    log_reads: setting(flag, false, 'Log who reads positions: `GET /admin/reads`.'),
  }).superRefine(({ host, tls: secure, behind_proxy }, context) => {
    if (secure || behind_proxy || isLoopback(host)) return
    context.addIssue({ code: 'custom', path: ['host'], message: NOT_LOOPBACK })
  })
}

/** How people sign in, and the permissions of each group. */
export type OidcConfig = z.output<typeof oidc>

const NOT_LOOPBACK =
  'other machines reach this address: set admin.tls, or admin.behind_proxy: true if a proxy with TLS is in front'

/** An instant, ms UTC. */
const expiry = leaf((value) => {
  const seconds = RFC_3339.test(value) ? timesIn('UTC').instant(value) : undefined
  return seconds === undefined ? undefined : seconds * 1000
}, 'expected an instant such as 2027-01-01T00:00:00Z')
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** The permissions of a token or group: its role and companies. */
const ACCESS = {
  role: setting(oneOf('read', 'operate'), 'operate', '`read`: may look; `operate`: may also change things.'),
  companies: orNull(z.array(id, 'expected a list').min(1, 'expected at least one company_id')).describe(
    'The companies that it sees and changes, by their ids; null: everything.',
  ),
}

/** A token alone, or a token with its role. */
const token = z.preprocess(
  (value) => (typeof value === 'string' ? { token: value } : value),
  fields({
    token: headerToken.describe('Token without spaces.'),
    ...ACCESS,
    name: printableText.optional().describe('Whose token it is, for the audit log.'),
    expires: expiry.optional().describe('From when on it is refused: RFC 3339, `2027-01-01T00:00:00Z`.'),
  }),
)

/**
 * A token that is listed twice could have two roles. With two tokens of one name, the audit log would not tell which one made
 * a change.
 */
const tokens = list(token).superRefine((all, context) => {
  for (const [index, { token: own, name }] of all.entries()) {
    if (all.findIndex((other) => other.token === own) < index)
      context.addIssue({ code: 'custom', path: [index, 'token'], message: 'this token is listed twice' })
    if (name !== undefined && all.findIndex((other) => other.name === name) < index)
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'another token has this name' })
  }
})

/** A trailing slash is part of it. */
const issuer = leaf(
  (value) => (safeUrl(value) ? value : undefined),
  'expected an https URL without user name, query or fragment',
)

/** The page is at the root of its host. */
const pageUrl = leaf((value) => {
  const url = safeUrl(value)
  return url?.pathname === '/' ? url.origin : undefined
}, 'expected an https URL without path, such as https://gateway.example')

/** A URL to which codes, secrets and cookies may be sent: without TLS it must be on this machine. */
function safeUrl(value: string): URL | undefined {
  const url = URL.parse(value)
  if (!url || url.username || url.search || url.hash) return undefined
  const isHere = url.protocol === 'http:' && isLoopback(url.hostname.replaceAll(/[[\]]/g, ''))
  return url.protocol === 'https:' || isHere ? url : undefined
}

/** Unlike a token, a group has no default role, because other people decide who is in it. */
const group = fields({ ...ACCESS, role: oneOf('read', 'operate') })

const oidc = fields({
  issuer: issuer.describe('URL of the provider, as its `/.well-known/openid-configuration` says it.'),
  client_id: printableText.describe('Id that the provider gave waybridge.'),
  client_secret: headerToken.describe('Secret that it gave with it.'),
  scopes: setting(
    printableText.refine((text) => text.split(' ').includes('openid'), 'expected scopes with openid among them'),
    'openid profile email',
    'What is asked of the provider; many need `offline_access` to renew a session.',
  ),
  groups_claim: setting(printableText, 'groups', 'Claim that lists the groups of a person.'),
  roles: z
    .record(z.string(), group, 'expected a mapping')
    .refine((roles) => Object.keys(roles).length > 0, 'expected at least one group')
    .describe(
      'What the members of a group may do: `{ dispatch: { role: operate, companies: [7] } }`; `companies` as above.',
    ),
  url: orNull(pageUrl).describe('URL of the page if a proxy is in front; null: as the browser asks for it.'),
})
