import type { z } from 'zod'
import { fields, filePath, httpUrl, integer, leaf, number, orNull, section } from './leaves.ts'

/** Files for TLS connections to an API. */
export function tlsFiles(dir: string) {
  return section({
    ca: orNull(filePath(dir)).describe(
      'File with the authority of its certificate, PEM, beyond those that the system trusts.',
    ),
    cert: orNull(filePath(dir)).describe('File with a client certificate, PEM, where the API wants one.'),
    key: orNull(filePath(dir)).describe('File with its private key, PEM.'),
  })
}

/** The URL of a proxy, without a slash at its end. */
export const proxyUrl = leaf((value) => {
  const url = URL.parse(value)
  const isProxy = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  return isProxy ? value.replace(/\/+$/, '') : undefined
}, 'expected the http or https URL of a proxy, such as http://proxy.example:3128')

/** The API of a company, if it is not the usual one. */
export function companyTracking(dir: string) {
  return fields({
    base_url: orNull(httpUrl).describe('URL of its API.'),
    push_url: orNull(httpUrl).describe('URL that its positions are pushed to; null: its `base_url`.'),
    tls: tlsFiles(dir).describe('As `tracking.tls`; used whole if one of its files is named.'),
    proxy: orNull(proxyUrl).describe('As `tracking.proxy`.'),
    max_requests_per_s: orNull(number(0.001, 1_000_000)).describe('As `push.max_requests_per_s`, of its API.'),
    concurrency: orNull(integer(1, 100_000)).describe('As `push.concurrency`, of its API.'),
  })
}

/** How an API is asked. */
export interface ApiConnection {
  readonly base_url: string
  readonly push_url: string
  readonly tls: TlsFiles
  readonly proxy: string | null
}

/** The API of a company. Companies that push to the same URL share one. */
export interface CompanyApiSettings extends ApiConnection {
  /** Its push URL; '' for the usual API. */
  readonly id: string
  readonly max_requests_per_s: number | null
  readonly concurrency: number
}

type TlsFiles = z.output<ReturnType<typeof tlsFiles>>
type CompanyTracking = z.output<ReturnType<typeof companyTracking>>

/** The settings of gateway.yaml about the usual API. */
interface UsualSettings {
  readonly tracking: {
    readonly base_url: string | null
    readonly push_url: string | null
    readonly tls: TlsFiles
    readonly proxy: string | null
  }
  readonly push: Pick<CompanyApiSettings, 'concurrency' | 'max_requests_per_s'>
}

interface OfCompany {
  readonly tracking?: CompanyTracking | null
}

/** Returns the settings of the usual API; `baseUrl`: its URL, also if it is the embedded service. */
export function usualApi({ tracking }: Pick<UsualSettings, 'tracking'>, baseUrl: string): ApiConnection {
  const { proxy, push_url, tls } = tracking
  return { base_url: baseUrl, push_url: push_url ?? baseUrl, tls, proxy }
}

/** The API of a company; undefined: the usual one, asked in the usual way. */
export function apiOfCompany(
  config: UsualSettings,
  { tracking }: OfCompany,
  baseUrl: string,
): CompanyApiSettings | undefined {
  if (!tracking) return undefined
  const usual = usualApi(config, baseUrl)
  const { base_url, push_url, tls, proxy, concurrency, max_requests_per_s } = tracking
  const pushUrl = push_url ?? base_url ?? usual.push_url
  const isOwnTls = tls.ca !== null || tls.cert !== null || tls.key !== null
  return {
    id: apiId(pushUrl) === apiId(usual.push_url) ? '' : apiId(pushUrl),
    base_url: base_url ?? usual.base_url,
    push_url: pushUrl,
    tls: isOwnTls ? tls : usual.tls,
    proxy: proxy ?? usual.proxy,
    max_requests_per_s: max_requests_per_s ?? config.push.max_requests_per_s,
    concurrency: concurrency ?? config.push.concurrency,
  }
}

/** Returns the id of an API: its push URL in normal form. */
function apiId(pushUrl: string): string {
  const { origin, pathname } = new URL(pushUrl)
  return origin + pathname.replace(/\/+$/, '')
}

/** Returns the companies that push to the same API as an earlier company, or as the usual one, but give it other bounds. */
export function unequalApis({ companies, ...settings }: UsualSettings & { readonly companies: readonly OfCompany[] }) {
  const { concurrency, max_requests_per_s } = settings.push
  const known = new Map([['', { concurrency, max_requests_per_s }]])
  return companies.flatMap((company, index) => {
    const api = apiOfCompany(settings, company, settings.tracking.base_url ?? EMBEDDED)
    if (!api) return []
    const first = known.get(api.id) ?? api
    known.set(api.id, first)
    return (['concurrency', 'max_requests_per_s'] as const)
      .filter((key) => first[key] !== api[key])
      .map((key) => ({ path: ['companies', index, 'tracking', key], message: UNEQUAL }))
  })
}

/** Stands for the embedded service, whose port is not known. */
const EMBEDDED = 'http://embedded.invalid'
const UNEQUAL =
  'another company pushes to the same URL with another value, or it is the URL of tracking: an API has one (for that of tracking, set it under push)'
