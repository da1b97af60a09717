import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Context, Provider } from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'
import { listening } from './listening.ts'

/** A real provider on loopback, in which whoever is named is known. */
export interface TestProvider {
  readonly issuer: string
  /** By the person: their groups now. Somebody who is not here is not known any more. */
  readonly groups: Map<string, readonly string[]>
  /** What it was asked: `POST /token`. */
  readonly asked: string[]
  /** Whether it answers 503, as it does before `open`. */
  isAway: boolean
  /** Whether it takes requests and never answers. */
  isSilent: boolean
  /** Until when requests wait for their answers. */
  answersAfter: Promise<void> | undefined
  /** Begins anew, for the page at this URL. */
  open(pageUrl: string, options?: ProviderOptions): void
  end(): void
}

interface ProviderOptions {
  /** How long an access token is valid, seconds; default: an hour. */
  readonly tokenS?: number
  /** Whether it gives refresh tokens; default: it does. */
  readonly renews?: boolean
  /** Whether it says the groups in the ID token too, not only when it is asked for them. */
  readonly groupsInToken?: boolean
}

/** The `oidc` of a configuration with this provider. */
export const CLIENT = { client_id: 'waybridge', client_secret: 'canary-client-secret' }

export async function startProvider(): Promise<TestProvider> {
  const groups = new Map<string, readonly string[]>()
  const asked: string[] = []
  let provider: Provider | undefined
  const server = createServer((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    if (own.isSilent) return
    await own.answersAfter
    if (!provider || own.isAway) response.writeHead(503).end()
    else if (request.url?.startsWith(INTERACTION)) void interact(provider, request, response)
    else void provider.callback()(request, response)
  }

  const issuer = `http://127.0.0.1:${await listening(server)}`
  const own: TestProvider = {
    issuer,
    groups,
    asked,
    isAway: false,
    isSilent: false,
    answersAfter: undefined,
    open(pageUrl, options = {}) {
      provider = new Provider(issuer, configuration(pageUrl, { groups, ...options }))
    },
    end() {
      server.close()
      server.closeAllConnections()
    },
  }
  return own
}

const INTERACTION = '/interaction/'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

function configuration(
  pageUrl: string,
  { groups, tokenS = 3600, renews = true, groupsInToken = true }: ProviderOptions & Pick<TestProvider, 'groups'>,
): object {
  const client = {
    ...CLIENT,
    redirect_uris: [`${pageUrl}/admin/oidc/callback`],
    post_logout_redirect_uris: [`${pageUrl}/`],
    grant_types: ['authorization_code', 'refresh_token'],
  }
  return {
    clients: [client],
    adapter: OwnAdapter,
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !groupsInToken,
    cookies: { keys: ['canary-cookie-key'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => INTERACTION + uid },
    ttl: { AccessToken: tokenS, IdToken: tokenS, Grant: 3600, Session: 3600, Interaction: 600, RefreshToken: 3600 },
    issueRefreshToken: () => renews,
    findAccount: (_context: unknown, person: string) =>
      groups.has(person)
        ? {
            accountId: person,
            claims: () => ({
              sub: person,
              email: `${person}@example.com`,
              email_verified: true,
              groups: groups.get(person),
            }),
          }
        : undefined,
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
}

/** The provider warns of its own one. */
class OwnAdapter extends MemoryAdapter {}

/** Its sign-in: a form that asks who somebody is, and believes it; nobody: they turn back. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/html' })
    return void response.end(
      '<form method="post"><label>Person <input name="person"></label><button>Continue</button></form>',
    )
  }
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const accountId = new URLSearchParams(body).get('person') ?? ''
  const result = accountId === '' ? { error: 'access_denied' } : { login: { accountId } }
  await provider.interactionFinished(request, response, result)
}

/** A browser without scripts: it follows redirects, and keeps the cookies of each host and port. */
export class PlainBrowser {
  readonly #cookies = new Map<string, Map<string, string>>()

  /** Follows redirects and gives the last answer, with its URL. A form of the provider is answered with `person`. */
  async visit(url: string, person = ''): Promise<{ readonly url: string; readonly status: number }> {
    let body: string | undefined
    for (let at = url; ; ) {
      const response = await this.send(at, body === undefined ? {} : { method: 'POST', body })
      const to = response.headers.get('location')
      const isForm = new URL(at).pathname.startsWith(INTERACTION) && body === undefined && to === null
      if (to === null && !isForm) return { url: at, status: response.status }
      body = isForm ? `person=${person}` : undefined
      if (to !== null) at = new URL(to, at).href
      if (new URL(at).hash !== '') return { url: at, status: response.status }
    }
  }

  /** Signs somebody in at the provider; resolves to where it sends the browser back. */
  async untilBack(loginUrl: string, person: string): Promise<URL> {
    const steps = [loginUrl]
    const follow = async (init: RequestInit = {}) => {
      const at = steps.at(-1)!
      steps.push(new URL((await this.send(at, init)).headers.get('location')!, at).href)
    }
    await follow()
    await follow()
    await this.send(steps.at(-1)!)
    await follow({ method: 'POST', body: `person=${person}` })
    await follow()
    return new URL(steps.at(-1)!)
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url)
    const jar = this.#cookies.get(host) ?? new Map<string, string>()
    this.#cookies.set(host, jar)
    const headers = new Headers(init.headers)
    if (jar.size > 0) headers.set('cookie', Array.from(jar, ([name, value]) => `${name}=${value}`).join('; '))
    if (typeof init.body === 'string' && !headers.has('content-type'))
      headers.set('content-type', 'application/x-www-form-urlencoded')
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (/max-age=0\b/i.test(cookie) || value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /** The cookies of a host, as they are sent: to look at them, or to be without one. */
  cookies(url: string): Map<string, string> {
    return this.#cookies.get(new URL(url).host) ?? new Map<string, string>()
  }
}
