import type { SecureContextOptions } from 'node:tls'
import pLimit from 'p-limit'
import { createTrackingClient, type TrackingClient } from '../client.ts'
import type { AskedCompany } from './answers.ts'
import { testKeys } from './apikey.ts'
import { testConnection } from './connection.ts'
import { testPush } from './push.ts'
import { testReading } from './reading.ts'
import { skipped, type TestStep } from './step.ts'

export type { TestStep } from './step.ts'

export interface ApiTestOptions {
  readonly baseUrl: string
  /** Where positions are pushed; null: to `baseUrl`. */
  readonly pushUrl: string | null
  /** Whether the embedded tracking service is at `baseUrl`. */
  readonly isEmbedded: boolean
  readonly timeoutMs: number
  /** TLS settings beyond the system's trusted authorities. */
  readonly tls?: SecureContextOptions
  /** The URL of a proxy that connects to the API. */
  readonly proxy?: string | null
  /** The setting that has the URLs; default: `tracking`. */
  readonly setting?: string
  readonly companies: readonly TestedCompany[]
}

export interface TestedCompany extends AskedCompany {
  readonly name?: string
  /** One position is pushed to its lane, and read back. */
  readonly isPushed?: boolean
}

/** Results of the API test for a company, in the order of the steps. */
export interface CompanyTest {
  readonly company_id: string
  readonly name?: string
  readonly steps: readonly TestStep[]
}

/**
 * Tests a tracking API for each company: its name, connection and certificate, the company's keys, a read of an interval.
 * Stores nothing at the API except the position of a company with `isPushed`.
 */
export async function testApi(options: ApiTestOptions): Promise<CompanyTest[]> {
  const { baseUrl, pushUrl, isEmbedded, timeoutMs, tls, proxy, setting: at = 'tracking', companies } = options
  const base = new URL(baseUrl)
  const push = new URL(pushUrl ?? base)
  const isOne = push.origin === base.origin
  const setting = isEmbedded ? undefined : keyIn(at, 'base_url')
  const [toBase, toPush = toBase] = await Promise.all([
    testConnection({ url: base, setting, timeoutMs, tls, proxy }),
    ...(isOne ? [] : [testConnection({ url: push, setting: keyIn(at, 'push_url'), timeoutMs, tls, proxy })]),
  ])
  const reached = { base: isWell(toBase), push: isWell(toPush) }
  const client = createTrackingClient({
    baseUrl: base.href,
    pushUrl: push.href,
    timeoutMs,
    tls,
    proxy,
    connections: AT_ONCE,
  })
  try {
    return await pLimit(AT_ONCE).map(companies, async (company) => ({
      company_id: company.company_id,
      name: company.name,
      steps: [...toBase, ...(isOne ? [] : toPush), ...(await testCompany(client, company, reached))],
    }))
  } finally {
    await client.close()
  }
}

async function testCompany(
  client: TrackingClient,
  company: TestedCompany,
  reached: { readonly base: boolean; readonly push: boolean },
): Promise<TestStep[]> {
  const keys = reached.push ? await testKeys(client, company) : { steps: [skipped('apikey')] }
  const reading = reached.base
    ? await testReading(client, company)
    : { steps: [skipped('oauth_token'), skipped('read')], positions: [] }
  const steps = [...keys.steps, ...reading.steps]
  if (!company.isPushed) return steps
  if (keys.apikey === undefined) return [...steps, skipped('push'), skipped('read_back')]
  return [...steps, ...(await testPush(client, company, { apikey: keys.apikey, last: reading.positions.at(-1) }))]
}

/** Whether no step has failed. */
export function isWell(steps: readonly Pick<TestStep, 'state'>[]): boolean {
  return steps.every(({ state }) => state !== 'failed')
}

/** `tracking.base_url`, `tracking.base_url of company 7` */
function keyIn(setting: string, key: string): string {
  return setting.replace('tracking', `tracking.${key}`)
}

/** Companies that are tested side by side. */
const AT_ONCE = 4
