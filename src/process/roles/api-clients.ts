import type { SecureContextOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { type ApiConnection, apiOfCompany, type CompanyApiSettings, usualApi } from '../../config/apis.ts'
import { type CertificateMistake, readApiTls, trackingTls } from '../../config/certificate.ts'
import { inGateway } from '../../config/problem.ts'
import type { Company, Config } from '../../config/schema.ts'
import type { Logger } from '../../observe/log.ts'
import { createTrackingClient, type TrackingClient } from '../../tracking/client.ts'

export interface ApiClientsOptions {
  readonly config: Config
  /** Where the usual API is, also if it is the embedded service. */
  readonly baseUrl: string
  /** Most connections to an API, by its `concurrency`; undefined: of the usual one. */
  readonly connections: (concurrency?: number) => number
  /** Called some seconds after `use` has found TLS files that cannot be used: calls it again. */
  readonly again: () => unknown
  readonly logger: Logger
}

/** A company's own API, and what asks it. */
export interface ApiOfCompany extends CompanyApiSettings {
  readonly client: TrackingClient
}

/** The clients of the APIs, as presently configured: the usual one, and those of companies. */
export class ApiClients {
  readonly usual: TrackingClient
  readonly #options: ApiClientsOptions
  #companies: ReadonlyMap<string, ApiOfCompany> = new Map()
  /** Why TLS files cannot be used, as logged. */
  #refused: ReadonlySet<string> = new Set()
  #retry: NodeJS.Timeout | undefined

  /** @throws ConfigError if the TLS files of an API cannot be used */
  constructor(options: ApiClientsOptions, companies: readonly Company[]) {
    const { config, baseUrl, connections } = options
    this.#options = options
    this.usual = this.#open(usualApi(config, baseUrl), {
      tls: trackingTls(config.tracking),
      connections: connections(),
    })
    this.#companies = this.#read(companies, (company, { key, message }) => {
      throw inGateway(`company ${company}: tracking.tls.${key}: ${message}`)
    })
  }

  /** The own APIs of companies. */
  get companies(): ReadonlyMap<string, ApiOfCompany> {
    return this.#companies
  }

  /** Returns the client for the API of a company. */
  readonly of = (company: string): TrackingClient => this.#companies.get(company)?.client ?? this.usual

  /**
   * Sets the APIs of these companies. If the TLS files of one cannot be used, this is logged and the earlier client stays; if
   * the company did not have this API before, requests to it fail. Such files are tried again.
   */
  use(companies: readonly Company[]): ReadonlyMap<string, ApiOfCompany> {
    const [earlier, before] = [this.#companies, this.#clients()]
    const [refused, { again, logger }] = [new Set<string>(), this.#options]
    this.#companies = this.#read(companies, (company, { key, message }, api) => {
      const reason = `company ${company}: tracking.tls.${key}: ${message}`
      refused.add(reason)
      if (!this.#refused.has(reason))
        logger.error(
          { reason },
          'the tracking API of a company cannot be used as configured: its files are tried again',
        )
      const known = earlier.get(company)
      const isSame = known?.base_url === api.base_url && known.push_url === api.push_url
      return isSame ? known : UNUSABLE
    })
    this.#refused = refused
    clearTimeout(this.#retry)
    if (refused.size > 0) this.#retry = setTimeout(again, AGAIN_MS).unref()
    const now = this.#clients()
    for (const client of before) if (!now.has(client)) void client.close()
    return this.#companies
  }

  /** Waits for the requests in flight. */
  async close(): Promise<void> {
    clearTimeout(this.#retry)
    await Promise.all(Array.from(this.#clients().add(this.usual), (client) => client.close()))
  }

  /** Those of companies alone. */
  #clients(): Set<TrackingClient> {
    const clients = new Set(Array.from(this.#companies.values(), ({ client }) => client))
    clients.delete(this.usual)
    return clients
  }

  /** Returns the APIs of these companies. APIs with the same settings share a client, also with the earlier ones. */
  #read(
    companies: readonly Company[],
    refused: (
      company: string,
      mistake: CertificateMistake,
      api: ApiConnection,
    ) => Partial<ApiOfCompany> & Pick<ApiOfCompany, 'client'>,
  ): Map<string, ApiOfCompany> {
    const { config, baseUrl, connections } = this.#options
    const clients = new Map([[keyOfClient(usualApi(config, baseUrl), connections()), this.usual]])
    // Reads the files of APIs again that could not be used.
    for (const { client, ...api } of this.#companies.values())
      if (client !== UNUSABLE.client) clients.set(keyOfClient(api, connections(api.concurrency)), client)
    const apis = new Map<string, ApiOfCompany>()
    for (const company of companies) {
      const api = apiOfCompany(config, company, baseUrl)
      if (!api) continue
      const count = connections(api.concurrency)
      const key = keyOfClient(api, count)
      const tls = clients.has(key) ? undefined : readApiTls(api.tls)
      if (tls && 'message' in tls) {
        apis.set(company.company_id, { ...api, ...refused(company.company_id, tls, api) })
        continue
      }
      const client = clients.get(key) ?? this.#open(api, { tls, connections: count })
      clients.set(key, client)
      apis.set(company.company_id, { ...api, client })
    }
    return apis
  }

  /** Reads the files for each connection, so that renewed ones are used: those that cannot be used leave the ones of before. */
  #open(
    api: ApiConnection,
    { tls, connections }: { readonly tls?: SecureContextOptions; readonly connections: number },
  ) {
    const { config, logger } = this.#options
    let known = tls
    const tlsNow = () => {
      const read = readApiTls(api.tls)
      const isOther = !(read && 'message' in read) && !isDeepStrictEqual(read, known)
      return isOther ? (known = read) : known
    }
    return createTrackingClient({
      connections,
      tls: tlsNow,
      baseUrl: api.base_url,
      pushUrl: api.push_url,
      returnPrefix: config.tracking.return_prefix,
      timeoutMs: config.push.timeout,
      proxy: api.proxy,
      logger,
    })
  }
}

function keyOfClient({ base_url, push_url, tls, proxy }: ApiConnection, connections: number): string {
  return JSON.stringify([base_url, push_url, tls.ca, tls.cert, tls.key, proxy, connections])
}

const AGAIN_MS = 5000
const FAILED = { fault: 'failed', unsent: true } as const
const UNUSABLE: Pick<ApiOfCompany, 'client'> = {
  client: {
    baseUrl: '',
    timeoutMs: 0,
    push: () => Promise.resolve(FAILED),
    request: () => Promise.resolve(FAILED),
    close: () => Promise.resolve(),
  },
}
