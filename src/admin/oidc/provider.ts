import type { ClientAuth, Configuration } from 'openid-client'
import { within } from '../../async.ts'
import type { OidcConfig } from '../../config/admin.ts'
import type { Logger } from '../../observe/log.ts'
import { say, type Text } from '../../texts/text.ts'

/** What a browser stores between the beginning and the end of a sign-in. */
export interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  /** The PKCE code verifier. */
  readonly verifier: string
}

/** A person, as the provider knows them. */
interface Person {
  readonly name: string
  readonly subject: string
  readonly groups: readonly string[]
}

/** What the provider returned for a person. */
export interface ProvidedSignIn {
  readonly person: Person
  /** When the provider must be asked again, ms UTC. */
  readonly until: number
  readonly secrets: ProviderSecrets
}

export interface ProviderSecrets {
  readonly idToken?: string
  readonly refreshToken?: string
}

/** An error in talking to the provider. Its message contains no token and no code. */
export class ProviderError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ProviderError'
  }
}

interface ProviderSources {
  /** null: people do not sign in. */
  readonly oidc: () => OidcConfig | null
  readonly logger: Logger
}

/** The provider of `admin.oidc`. Its metadata are fetched once, and again while it does not answer. */
export class Provider {
  readonly #sources: ProviderSources
  #found: { readonly key: string; readonly configuration: Promise<Configuration> } | undefined
  #problem: { readonly key: string; readonly reason: string; readonly at: number } | undefined

  constructor(sources: ProviderSources) {
    this.#sources = sources
    if (sources.oidc()) void this.problem()
  }

  /** Resolves within a second to the reason why nobody can sign in now, if one is known; checked again every few seconds. */
  async problem(): Promise<Text | undefined> {
    const settings = this.#settings()
    const key = keyOf(settings)
    const isDue = this.#problem?.key !== key || Date.now() - this.#problem.at > PAUSE_MS
    if (isDue)
      await within(
        PATIENCE_MS,
        this.#configuration().catch(() => {}),
      )
    const reason = this.#problem?.key === key ? this.#problem.reason : undefined
    return reason === undefined
      ? undefined
      : say('{} does not answer as a provider of OpenID Connect: {}', settings.issuer, reason)
  }

  /** The URL at which a person signs in. @throws ProviderError */
  async startUrl({ state, nonce, verifier }: PendingSignIn, redirect_uri: string): Promise<URL> {
    const configuration = await this.#configuration()
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library()
    const code_challenge = await calculatePKCECodeChallenge(verifier)
    const { scopes: scope } = this.#settings()
    const pkce = { code_challenge, code_challenge_method: 'S256' }
    return asked(async () => buildAuthorizationUrl(configuration, { redirect_uri, scope, state, nonce, ...pkce }))
  }

  /** Who has signed in; `url`: the one to which the provider has sent the browser back. @throws ProviderError */
  async finish(url: URL, { state, nonce, verifier }: PendingSignIn): Promise<ProvidedSignIn> {
    const name = nameOf(this.#settings())
    const configuration = await this.#configuration()
    const { authorizationCodeGrant } = await library()
    return asked(async () => {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
      const provided = await this.#read(configuration, await authorizationCodeGrant(configuration, url, checks))
      if (nameOf(this.#settings()) !== name) throw new ProviderError('admin.oidc has changed meanwhile')
      return provided
    })
  }

  /**
   * Resolves to the person as the provider knows them now; undefined: they are no longer signed in there. @throws
   * ProviderError
   */
  async renew({ person, secrets }: ProvidedSignIn): Promise<ProvidedSignIn | undefined> {
    const { refreshToken } = secrets
    if (refreshToken === undefined) return undefined
    const configuration = await this.#configuration()
    const { refreshTokenGrant } = await library()
    try {
      const renewed = await this.#read(configuration, await refreshTokenGrant(configuration, refreshToken), person)
      return { ...renewed, secrets: { refreshToken, ...secrets, ...renewed.secrets } }
    } catch (error) {
      if ((error as ProviderAnswer).error === 'invalid_grant') return undefined
      throw error instanceof ProviderError ? error : new ProviderError(reasonOf(error))
    }
  }

  /** Returns the URL that ends the person's session at the provider; undefined if the provider has none. */
  async endUrl({ idToken }: ProviderSecrets, backTo: string): Promise<string | undefined> {
    const configuration = await this.#configuration().catch(() => undefined)
    if (!configuration?.serverMetadata().end_session_endpoint || idToken === undefined) return undefined
    const { buildEndSessionUrl } = await library()
    return buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: backTo }).href
  }

  #settings(): OidcConfig {
    const settings = this.#sources.oidc()
    if (!settings) throw new ProviderError('admin.oidc is not set')
    return settings
  }

  /** Resolves to the provider's metadata. @throws ProviderError */
  async #configuration(): Promise<Configuration> {
    const settings = this.#settings()
    const key = keyOf(settings)
    if (this.#found?.key !== key) this.#found = { key, configuration: this.#discover(settings) }
    return this.#found.configuration
  }

  async #discover(settings: OidcConfig): Promise<Configuration> {
    const [key, { issuer }, { logger }] = [keyOf(settings), settings, this.#sources]
    try {
      const configuration = await discover(settings)
      if (this.#problem) logger.info({ issuer }, 'people can sign in: the provider answers')
      this.#problem = undefined
      return configuration
    } catch (error) {
      const reason = reasonOf(error)
      if (this.#found?.key === key) this.#found = undefined
      if (this.#problem?.reason !== reason)
        logger.warn({ issuer, reason }, 'people cannot sign in: the provider does not answer')
      this.#problem = { key, reason, at: Date.now() }
      throw new ProviderError(reason)
    }
  }

  /** Asks the provider for groups that are not in the ID token. `known`: the person, who must be the same. */
  async #read(configuration: Configuration, tokens: TokenAnswer, known?: Person): Promise<ProvidedSignIn> {
    const { fetchUserInfo } = await library()
    const { groups_claim } = this.#settings()
    const idClaims: Claims = tokens.claims() ?? {}
    const subject = known?.subject ?? String(idClaims.sub)
    if (idClaims.sub !== undefined && idClaims.sub !== subject)
      throw new ProviderError('its tokens are for somebody else')
    const isAsked = !(groups_claim in idClaims) && configuration.serverMetadata().userinfo_endpoint !== undefined
    const more: Claims = isAsked ? await fetchUserInfo(configuration, tokens.access_token, subject) : {}
    const claims = { ...more, ...idClaims }
    const { id_token: idToken, refresh_token: refreshToken, expires_in = USUAL_S } = tokens
    return {
      person: { name: known?.name ?? personName(claims, subject), subject, groups: groupsIn(claims[groups_claim]) },
      until: Date.now() + expires_in * 1000,
      secrets: { ...(idToken && { idToken }), ...(refreshToken && { refreshToken }) },
    }
  }
}

/** Loaded on first use: it takes 60 ms and 6 MB. */
const library = () => import('openid-client')

type TokenAnswer = Awaited<ReturnType<Awaited<ReturnType<typeof library>>['authorizationCodeGrant']>>
type Claims = Readonly<Record<string, unknown>>

/** Names the source of groups: the provider, our client id, and the claim. Sign-ins from another source end. */
export function nameOf({ issuer, client_id, groups_claim }: OidcConfig): string {
  return JSON.stringify([issuer, client_id, groups_claim])
}

function keyOf({ issuer, client_id, client_secret }: OidcConfig): string {
  return JSON.stringify([issuer, client_id, client_secret])
}

async function discover({ issuer, client_id, client_secret }: OidcConfig): Promise<Configuration> {
  const { allowInsecureRequests, discovery, enableNonRepudiationChecks } = await library()
  const url = new URL(issuer)
  return discovery(url, client_id, undefined, await clientAuth(client_secret), {
    timeout: TIMEOUT_S,
    // The configuration allows http for a provider on this machine alone.
    execute:
      url.protocol === 'http:' ? [enableNonRepudiationChecks, allowInsecureRequests] : [enableNonRepudiationChecks],
  })
}

/** Sends the client secret in the header, unless the provider only accepts it in the body. */
async function clientAuth(secret: string): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost } = await library()
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...request) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...request)
  }
}

async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    throw error instanceof ProviderError ? error : new ProviderError(reasonOf(error))
  }
}

/** Returns the name of a person for the audit log; names that the organisation assigns come before those that people choose. */
function personName(claims: Claims, subject: string): string {
  const { email, email_verified, preferred_username, name } = claims
  const names = [email_verified === false ? undefined : email, preferred_username, name, subject]
  const found = names.find((each): each is string => typeof each === 'string' && each.trim() !== '') ?? subject
  return found
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, MOST_LETTERS)
}

function groupsIn(claim: unknown): string[] {
  const groups = [claim].flat().filter((group): group is string => typeof group === 'string')
  return groups.filter(({ length }) => length <= MOST_LETTERS).slice(0, MOST_GROUPS)
}

/** Returns the reason of an error without any text of a provider or browser, except the provider's own error code. */
function reasonOf(error: unknown): string {
  const { code, cause, error: refusal, message, status } = error as ProviderAnswer
  if (refusal !== undefined) return `it answers ${status}: ${refusal}`.slice(0, MOST_LETTERS)
  if (cause?.status !== undefined) return `it answers ${cause.status}`
  return cause?.code ?? (code === 'OAUTH_TIMEOUT' ? 'no answer' : message)
}

/** An error of the library; `error` and `status` are those of the provider's answer. */
interface ProviderAnswer extends Error {
  readonly code?: string
  readonly cause?: { readonly code?: string; readonly status?: number }
  readonly error?: string
  readonly status?: number
}

const TIMEOUT_S = 10
const PATIENCE_MS = 1000
const PAUSE_MS = 5000
/** Lifetime of an access token if the provider does not give one, s. */
const USUAL_S = 3600
const MOST_LETTERS = 200
const MOST_GROUPS = 500
