import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { OidcConfig } from '../../config/admin.ts'
import { ApiRefusal } from '../../http/refusal.ts'
import type { Logger } from '../../observe/log.ts'
import {
  addSignIn,
  beginRenewal,
  endRenewal,
  isRenewing,
  readSignIn,
  removeSignIn,
  replaceSignIn,
  type Store,
  type StoredSignIn,
} from '../../store/index.ts'
import { type FindPerson, grantOf } from '../access.ts'
import { cookieName, cookiesOf, setCookie } from './cookies.ts'
import { nameOf, type Provider, type ProviderSecrets, type ProvidedSignIn, ProviderError } from './provider.ts'

interface SignInSources {
  readonly redis: Store
  readonly oidc: () => OidcConfig | null
  readonly provider: Provider
  /** Whether browsers ask by https. */
  readonly isSecure: () => boolean
  readonly logger: Logger
}

/**
 * The signed-in people, kept in Redis for all admin processes. Redis has the hash of the cookie's value, and the provider's
 * tokens encrypted with that value. Each request checks anew what the person may do, by the present `admin.oidc.roles`.
 */
export class SignIns {
  readonly #sources: SignInSources
  readonly #renewing = new Map<string, Promise<StoredSignIn | undefined>>()

  constructor(sources: SignInSources) {
    this.#sources = sources
  }

  /** Adds a sign-in. Resolves to its cookie; undefined if the person is in no group of `admin.oidc.roles`. */
  async begin(provided: ProvidedSignIn): Promise<string | undefined> {
    const { oidc, redis } = this.#sources
    const settings = oidc()
    if (!settings || !this.#grantOf(provided.person)) return undefined
    const id = randomBytes(32).toString('base64url')
    const signIn = stored(provided, { id, by: nameOf(settings) })
    const bounds = { most: MOST_SIGN_INS, mostOfPerson: MOST_OF_PERSON, maxMs: lifetime(provided) }
    await addSignIn(redis, digest(id), { signIn, ...bounds })
    return setCookie(this.#cookie, id, { sameSite: 'Strict' })
  }

  /**
   * Ends the sign-in of a request, if it has one. Resolves to the provider's tokens, and to the header that deletes the
   * cookie.
   */
  async end({ headers }: FastifyRequest) {
    const id = cookiesOf(headers).get(this.#cookie)
    const signIn = id === undefined ? undefined : await readSignIn(this.#sources.redis, digest(id))
    if (id !== undefined) await removeSignIn(this.#sources.redis, digest(id))
    return {
      secrets: id !== undefined && signIn ? opened(signIn.sealed, id) : {},
      cookie: setCookie(this.#cookie, '', { sameSite: 'Strict', maxAgeS: 0 }),
    }
  }

  /**
   * The person of a request. Browsers also send the cookie with requests that other sites trigger. So the cookie counts only
   * beside our own header, which a page of another origin can send only after a preflight, and this port permits none. In
   * addition, the cookie is `SameSite=Strict`.
   */
  readonly personOf: FindPerson = async (request) => {
    const id = isOfPage(request) ? cookiesOf(request.headers).get(this.#cookie) : undefined
    if (id === undefined) return undefined
    const signIn = await this.#current(id)
    const grant = signIn && this.#grantOf(signIn)
    if (!grant) return { fault: ENDED }
    return { label: `oidc:${signIn.name}`, subject: signIn.subject, ...grant }
  }

  get #cookie(): string {
    return cookieName('waybridge', this.#sources.isSecure())
  }

  /** Resolves to the sign-in, if it has not ended. One whose person may not sign in any more ends at once, for all processes. */
  async #current(id: string): Promise<StoredSignIn | undefined> {
    const { oidc, redis } = this.#sources
    const key = digest(id)
    const signIn = await readSignIn(redis, key)
    const settings = oidc()
    if (!signIn) return undefined
    if (!settings || signIn.by !== nameOf(settings) || !this.#grantOf(signIn)) {
      await removeSignIn(redis, key)
      return undefined
    }
    if (signIn.until > Date.now()) return signIn
    const renewing = this.#renewing.get(key) ?? this.#renew(id, signIn).finally(() => this.#renewing.delete(key))
    this.#renewing.set(key, renewing)
    return renewing
  }

  #grantOf({ groups }: Pick<StoredSignIn, 'groups'>) {
    return grantOf(groups, this.#sources.oidc()?.roles ?? {})
  }

  /** Asks the provider whether the person is still signed in, and for the groups. @throws ApiRefusal 503 if it does not answer */
  async #renew(id: string, signIn: StoredSignIn): Promise<StoredSignIn | undefined> {
    const { logger, provider, redis } = this.#sources
    const key = digest(id)
    if (!(await beginRenewal(redis, key, RENEWAL_MS))) return this.#renewedElsewhere(key)
    try {
      // Another process may have renewed it just now.
      const latest = await readSignIn(redis, key)
      if (!latest || latest.until > Date.now()) return latest
      const { name, subject, groups, until, by } = latest
      const secrets = opened(latest.sealed, id)
      const provided = await provider.renew({ person: { name, subject, groups }, until, secrets })
      if (!provided || !this.#grantOf(provided.person)) {
        await removeSignIn(redis, key)
        return undefined
      }
      const renewed = stored(provided, { id, by })
      await replaceSignIn(redis, key, renewed)
      return renewed
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      logger.warn({ person: signIn.name, reason: error.message }, 'a sign-in cannot be renewed now')
      throw new ApiRefusal(503, NO_PROVIDER)
    } finally {
      await endRenewal(redis, key)
    }
  }

  async #renewedElsewhere(key: string): Promise<StoredSignIn | undefined> {
    const { redis } = this.#sources
    while (await isRenewing(redis, key)) await delay(LOOK_MS)
    const signIn = await readSignIn(redis, key)
    if (signIn && signIn.until <= Date.now()) throw new ApiRefusal(503, NO_PROVIDER)
    return signIn
  }
}

/** Whether a request is one that only the page's own scripts can send. */
export function isOfPage({ headers }: FastifyRequest): boolean {
  return headers['x-waybridge-page'] !== undefined
}

function stored({ person, until, secrets }: ProvidedSignIn, { id, by }: { readonly id: string; readonly by: string }) {
  return { ...person, by, until, sealed: sealed(secrets, id) } satisfies StoredSignIn
}

/** Without a refresh token it ends with what the provider gave. */
function lifetime({ until, secrets }: ProvidedSignIn): number {
  return secrets.refreshToken === undefined ? Math.max(1, Math.min(MAX_MS, until - Date.now())) : MAX_MS
}

function digest(id: string): string {
  return hash('sha256', id, 'base64url')
}

/** Encrypts with the value of the cookie: a copy of the data in Redis opens nothing. */
function sealed(secrets: ProviderSecrets, id: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealKey(id), nonce)
  const bytes = [nonce, cipher.update(JSON.stringify(secrets)), cipher.final()]
  return Buffer.concat([...bytes, cipher.getAuthTag()]).toString('base64url')
}

function opened(text: string, id: string): ProviderSecrets {
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', sealKey(id), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plain = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
  return JSON.parse(Buffer.concat(plain).toString()) as ProviderSecrets
}

/** Returns the key of the encryption. Redis has another hash, which decrypts nothing. */
function sealKey(id: string): Buffer {
  return hash('sha256', `seal ${id}`, 'buffer')
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** After this time a person signs in again, whatever the provider says. */
const MAX_MS = 12 * 3_600_000
const MOST_SIGN_INS = 1000
/** Limit for one person, so that repeated sign-ins cannot sign out other people. */
const MOST_OF_PERSON = 20
/** Longer than a provider is waited for: it is asked up to four times, for 10 s each. */
const RENEWAL_MS = 60_000
const LOOK_MS = 100
const ENDED = 'the sign-in has ended: sign in again'
const NO_PROVIDER = 'the provider of the sign-in does not answer: try again later'
