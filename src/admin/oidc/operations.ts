import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OidcConfig } from '../../config/admin.ts'
import { ApiRefusal } from '../../http/refusal.ts'
import type { Logger } from '../../observe/log.ts'
import type { FindPerson } from '../access.ts'
import type { Operation } from '../operation.ts'
import { SignedOutJson, SignInJson } from '../schemas/access.ts'
import { cookieName, cookiesOf, setCookie } from './cookies.ts'
import { type PendingSignIn, type Provider, ProviderError } from './provider.ts'
import { isOfPage, type SignIns } from './sign-ins.ts'

interface OidcSources {
  readonly oidc: () => OidcConfig | null
  readonly provider: Provider
  readonly signIns: SignIns
  readonly isSecure: () => boolean
  readonly logger: Logger
}

/** `GET /admin/oidc`: whether people sign in here; `POST /admin/oidc/logout`: ends the sign-in of the cookie. */
export function oidcOperations({ oidc, provider, signIns, isSecure }: OidcSources): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/oidc',
      id: 'getSignIn',
      summary: 'Get whether people sign in to the page with OpenID Connect, and why they cannot',
      answer: SignInJson,
      open: true,
      async handle(request) {
        if (!oidc()) return { enabled: false, signed_in: false }
        const [person, problem] = await Promise.all([personNow(signIns.personOf, request), provider.problem()])
        return { enabled: true, signed_in: person, problem }
      },
    },
    {
      method: 'POST',
      path: '/admin/oidc/logout',
      id: 'signOut',
      summary: 'End the sign-in of the cookie of this request',
      answer: SignedOutJson,
      open: true,
      refusals: [403, 503],
      async handle(request, reply) {
        if (!isOfPage(request))
          throw new ApiRefusal(403, 'only the page signs out: the header X-Waybridge-Page is missing')
        const { secrets, cookie } = await signIns.end(request)
        void reply.header('set-cookie', cookie)
        const settings = oidc()
        if (!settings) return {}
        return { url: await provider.endUrl(secrets, `${publicUrl(request, settings, isSecure())}/`) }
      },
    },
  ]
}

async function personNow(personOf: FindPerson, request: FastifyRequest): Promise<boolean> {
  const person = await personOf(request).catch(() => undefined)
  return person !== undefined && !('fault' in person)
}

/** Why somebody is not signed in. */
type SignInFault = 'off' | 'no_provider' | 'expired' | 'refused' | 'failed' | 'no_group' | 'no_redis'

/**
 * Serves the two addresses that a browser visits: `/admin/oidc/login` redirects it to the provider, and the provider
 * redirects it back to `/admin/oidc/callback`. Both end at the page, which shows what went wrong.
 */
export function serveSignIn(app: FastifyInstance, sources: OidcSources): void {
  const { oidc, provider, signIns, isSecure, logger } = sources
  let atOnce = 0
  let failureLoggedAt = -Infinity

  const serve = (path: string, handle: (visit: Visit) => Promise<string>) =>
    app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
      const settings = oidc()
      if (!settings) return reply.redirect(withFault('off'), SEE_OTHER)
      if (atOnce >= MOST_AT_ONCE) return reply.redirect(withFault('no_provider'), SEE_OTHER)
      atOnce++
      try {
        const redirectUri = publicUrl(request, settings, isSecure()) + CALLBACK
        return reply.redirect(await handle({ request, reply, redirectUri }), SEE_OTHER)
      } finally {
        atOnce--
      }
    })

  serve('/admin/oidc/login', async ({ request, reply, redirectUri }) => {
    const pending = { state: random(), nonce: random(), verifier: random() }
    try {
      const url = await provider.startUrl(pending, redirectUri)
      keepPending(request, reply, { pending, isSecure: isSecure() })
      return url.href
    } catch (error) {
      if (error instanceof ProviderError) return withFault('no_provider')
      throw error
    }
  })

  serve(CALLBACK, async ({ request, reply, redirectUri }) => {
    const pending = takePending(request, reply, isSecure())
    if (!pending) return withFault('expired')
    const query = new URL(request.url, redirectUri).search
    if (new URLSearchParams(query).has('error')) return withFault('refused')
    try {
      const provided = await provider.finish(new URL(redirectUri + query), pending)
      const cookie = await signIns.begin(provided)
      const { name } = provided.person
      logger.info(
        { person: name, subject: provided.person.subject },
        cookie ? 'signed in' : 'refused: in no group of admin.oidc.roles',
      )
      if (cookie === undefined) return withFault('no_group')
      void reply.header('set-cookie', cookie)
      return '/'
    } catch (error) {
      if (error instanceof ProviderError) {
        // Anybody can cause failing sign-ins at any rate, so the log is limited.
        if (performance.now() - failureLoggedAt >= FAILURE_MS) {
          failureLoggedAt = performance.now()
          logger.warn({ reason: error.message }, 'a sign-in failed')
        }
        return withFault('failed')
      }
      logger.error({ err: error }, 'a sign-in cannot be kept in Redis')
      return withFault('no_redis')
    }
  })
}

interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The redirect URI, as registered at the provider. */
  readonly redirectUri: string
}

/** Returns the address of the page, with the reason why the sign-in failed. */
function withFault(fault: SignInFault): string {
  return `/#sign-in=${fault}`
}

/** Returns the URL of the page without a trailing slash. A provider refuses a host that it does not know. */
function publicUrl({ headers }: FastifyRequest, { url }: OidcConfig, isSecure: boolean): string {
  const found = url ?? `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`
  if (!URL.canParse(found)) throw new ApiRefusal(422, 'the header Host is missing or wrong')
  return found
}

/**
 * Makes the browser keep the secrets between it and the provider. Each sign-in has its own cookie, because a browser may have
 * several tabs.
 */
function keepPending(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { pending, isSecure }: { readonly pending: PendingSignIn; readonly isSecure: boolean },
): void {
  const { state, nonce, verifier } = pending
  const others = [...cookiesOf(headers).keys()].filter((name) => name.startsWith(cookieName(PENDING, isSecure)))
  const forgotten = others.length < MOST_PENDING ? [] : others
  void reply.header('set-cookie', [
    ...forgotten.map((name) => setCookie(name, '', { sameSite: 'Lax', maxAgeS: 0 })),
    setCookie(cookieName(PENDING + state, isSecure), `${nonce}.${verifier}`, { sameSite: 'Lax', maxAgeS: PENDING_S }),
  ])
}

/** Takes the state that the browser stored when it left for the provider; it can be taken once. */
function takePending(
  { headers, query }: FastifyRequest,
  reply: FastifyReply,
  isSecure: boolean,
): PendingSignIn | undefined {
  const { state } = query as { state?: unknown }
  if (typeof state !== 'string') return undefined
  const name = cookieName(PENDING + state, isSecure)
  const [nonce, verifier] = cookiesOf(headers).get(name)?.split('.') ?? []
  if (!nonce || !verifier) return undefined
  void reply.header('set-cookie', setCookie(name, '', { sameSite: 'Lax', maxAgeS: 0 }))
  return { state, nonce, verifier }
}

/** A random text of the length that a PKCE verifier needs. */
function random(): string {
  return randomBytes(32).toString('base64url')
}

const CALLBACK = '/admin/oidc/callback'
const SEE_OTHER = 303
const PENDING = 'waybridge-sign-in.'
const PENDING_S = 900
/** The most pending sign-ins of one browser; the oldest are forgotten. */
const MOST_PENDING = 8
const FAILURE_MS = 1000
/** Visits of all browsers that wait for the provider. */
const MOST_AT_ONCE = 50
