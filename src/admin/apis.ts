import * as z from 'zod'
import { yieldToEventLoop } from '../async.ts'
import { apiOfCompany, type ApiConnection, usualApi } from '../config/apis.ts'
import { readApiTls, trackingTls } from '../config/certificate.ts'
import type { Company, Config } from '../config/schema.ts'
import { ApiRefusal, parse } from '../http/refusal.ts'
import { type Lane, lanesOf } from '../roster/device-entry.ts'
import type { Roster } from '../roster/roster.ts'
import {
  type ApiTestOptions,
  type CompanyTest,
  isWell,
  type TestedCompany,
  testApi,
} from '../tracking/api-test/index.ts'
import { say } from '../texts/text.ts'
import { Int64Text } from '../tracking/schemas.ts'
import type { Operation } from './operation.ts'
import { Flag } from './schemas/parts.ts'
import { ApiTestsJson } from './schemas/tests.ts'

export interface ApiSources {
  readonly companies: () => readonly Company[]
  readonly directory: () => Roster
  readonly api: TestedApis
}

/** The tracking APIs of a configuration, to be tested. */
export interface TestedApis extends Omit<ApiTestOptions, 'companies'> {
  /** The API of a company; undefined: the usual one. `mistake`: why its TLS files cannot be used. */
  readonly own?: (
    company: Company,
  ) => (Omit<ApiTestOptions, 'companies'> & { readonly key: string; readonly mistake?: string }) | undefined
}

/** `POST /admin/apis/test`: tests the tracking API for each company that the caller sees. */
export function apiOperations({ companies, directory, api }: ApiSources): Operation[] {
  return [
    {
      method: 'POST',
      path: '/admin/apis/test',
      id: 'testApis',
      summary: 'Test the tracking API for each company: its name, certificate, keys, and a read',
      query: TestQuery,
      answer: ApiTestsJson,
      companies: 'filtered',
      async handle(request, _reply, scope) {
        const { push, ...choice } = parse(TestQuery, request.query)
        const seen = companies().filter(({ company_id }) => scope.sees(company_id))
        const tested = await testedCompanies(seen, directory(), { ...choice, push: push === 'true' })
        if ('mistake' in tested) throw new ApiRefusal(422, tested.mistake)
        const results = await testApis(api, tested.companies)
        const failed = results.filter(({ steps }) => !isWell(steps)).length
        request.audit = { tested: results.length, failed }
        return { ok: failed === 0, results }
      },
    },
  ]
}

/** Where the tracking APIs of a configuration are; `baseUrl`: of the usual one, also of the embedded service. */
export function apiOf(config: Pick<Config, 'tracking' | 'push'>, baseUrl: string): TestedApis {
  const timeoutMs = Math.min(config.push.timeout, MAX_STEP_MS)
  const isEmbedded = config.tracking.base_url === null
  const tested = ({ base_url, push_url, proxy }: ApiConnection, setting: string) => {
    return { baseUrl: base_url, pushUrl: push_url, proxy, timeoutMs, setting }
  }
  const atStart = trackingTls(config.tracking)
  return {
    ...tested(usualApi(config, baseUrl), 'tracking'),
    /** As for pushes: renewed files are used, and those of the start while they cannot be. */
    get tls() {
      const read = readApiTls(config.tracking.tls)
      return read && 'message' in read ? atStart : read
    },
    isEmbedded,
    own(company) {
      const api = apiOfCompany(config, company, baseUrl)
      if (!api) return undefined
      const { base_url, push_url, tls, proxy } = api
      const isOfEmbedded = isEmbedded && base_url === baseUrl
      const setting = `tracking of company ${company.company_id}`
      const read = readApiTls(tls)
      const found =
        read && 'message' in read ? { mistake: `${setting}: tls.${read.key}: ${read.message}` } : { tls: read }
      const key = JSON.stringify([base_url, push_url, tls, proxy])
      return { ...tested(api, setting), ...found, isEmbedded: isOfEmbedded, key }
    },
  }
}

/** Tests the API of each of these companies. The results have the order of the companies. */
export async function testApis({ own, ...usual }: TestedApis, companies: readonly TestedCompanyOfConfig[]) {
  const each = companies.map((company) => ({
    company,
    api: own?.(company) ?? { ...usual, key: '', mistake: undefined },
  }))
  const groups = [...Map.groupBy(each, ({ api }) => api.key).values()]
  const results = await Promise.all(
    groups.map(async (same) => {
      const [{ api }] = same
      const asked = same.map(({ company }) => company)
      return api.mistake === undefined
        ? testApi({ ...api, companies: asked })
        : asked.map((company) => untested(company, api.mistake ?? ''))
    }),
  )
  const found = new Map(results.flat().map((result) => [result.company_id, result]))
  return companies.flatMap(({ company_id }) => found.get(company_id) ?? [])
}

type TestedCompanyOfConfig = Company & TestedCompany

function untested({ company_id, name }: TestedCompanyOfConfig, mistake: string): CompanyTest {
  return { company_id, name, steps: [{ step: 'tls', state: 'failed', seen: mistake, action: CORRECT_FILES }] }
}

const CORRECT_FILES = say('correct the files of tls in gateway.yaml')

/** Which companies are tested, and the lane that the keys are tested with; with `push` it gets a position. */
export interface ApiTestChoice {
  readonly company_id?: string
  readonly courier_id?: string
  readonly route_id?: string
  readonly push?: boolean
}

/** Returns the companies to test, each with a lane of the roster if it has one; or what is wrong with the choice. */
export async function testedCompanies(
  all: readonly Company[],
  roster: Roster,
  choice: ApiTestChoice,
): Promise<{ readonly companies: readonly TestedCompanyOfConfig[] } | { readonly mistake: string }> {
  const { company_id, courier_id, route_id, push } = choice
  const companies = all.filter((company) => (company_id ?? company.company_id) === company.company_id)
  if (company_id !== undefined && companies.length === 0)
    return { mistake: `there is no company ${company_id} in gateway.yaml` }
  if (push && (courier_id === undefined || route_id === undefined))
    return { mistake: 'name the courier and the route that get the position' }
  if ((courier_id === undefined) !== (route_id === undefined))
    return { mistake: 'name both the courier and the route, or none of them' }
  const named = courier_id !== undefined && route_id !== undefined && { courier: courier_id, route: route_id }
  const lanes = await lanesByCompany(roster, named)
  const ids = companies.map((company) => company.company_id)
  const owners = ids.filter((id) => lanes.get(id)?.isNamed)
  const [owner, ...others] = owners.length > 0 ? owners : ids
  if (named && others.length > 0)
    return { mistake: `several companies may have courier ${courier_id} on route ${route_id}: name the company` }
  return {
    companies: companies.map((company) => {
      const isNamed = named && company.company_id === owner
      return { ...company, lane: isNamed ? named : lanes.get(company.company_id)?.lane, isPushed: push && isNamed }
    }),
  }
}

type CourierOnRoute = Pick<Lane, 'courier' | 'route'>

interface LaneToTest {
  readonly lane: CourierOnRoute
  readonly isNamed: boolean
  readonly isNow: boolean
}

/** A lane of each company: the named one, else one that holds now, else any. */
async function lanesByCompany(roster: Roster, named: CourierOnRoute | false): Promise<Map<string, LaneToTest>> {
  const lanes = new Map<string, LaneToTest>()
  const nowS = Date.now() / 1000
  const isNamed = ({ courier, route }: Lane) => named !== false && courier === named.courier && route === named.route
  for (const entry of roster.devices()) {
    await yieldToEventLoop()
    const now = roster.stayAt(entry, nowS)?.lane
    for (const lane of lanesOf(entry)) {
      const found = { lane, isNamed: isNamed(lane), isNow: lane.key === now?.key }
      const known = lanes.get(lane.company)
      if (!known || rankOf(found) > rankOf(known)) lanes.set(lane.company, found)
    }
  }
  return lanes
}

function rankOf({ isNamed, isNow }: LaneToTest): number {
  return (isNamed ? 2 : 0) + (isNow ? 1 : 0)
}

/** Somebody waits for the test. */
const MAX_STEP_MS = 10_000

const TestQuery = z.object({
  company_id: Int64Text.optional(),
  courier_id: Int64Text.optional(),
  route_id: Int64Text.optional(),
  push: Flag,
})
