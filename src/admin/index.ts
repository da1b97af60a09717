import { within } from '../async.ts'
import { type CertificateFiles, ServedCertificate } from '../config/certificate.ts'
import type { HttpServerOptions } from '../http/server.ts'
import { sameId } from '../domain/ids.ts'
import { readTrialAccount } from '../store/index.ts'
import type { OidcConfig } from '../config/admin.ts'
import { type AdminToken, accessBy, callerOf } from './access.ts'
import { type AlertReceivers, alertOperations } from './alert-tests.ts'
import { type ApiSources, apiOperations } from './apis.ts'
import { arrivalOperations, arrivalSource, enrolmentOperations } from './arrivals.ts'
import { auditOperations, auditSource, keepAudit } from './audit.ts'
import { copyOperations, type CopySources } from './copies.ts'
import { openCollectors } from './collectors.ts'
import { DaySheets } from './day-sheets.ts'
import { daysOperation } from './days.ts'
import { assignmentOperations } from './device/assign.ts'
import { chainOperation } from './device/chain.ts'
import { deviceOperations } from './device/device.ts'
import { FileRewrite, forgetOperation } from './device/forget.ts'
import { frameOperations } from './device/frames.ts'
import { historyOperation } from './device/history.ts'
import { importOperation } from './device/import.ts'
import { type DeviceSources, deviceListOperations, deviceSource } from './device/list.ts'
import type { FindSpoken } from './device/lost-senders.ts'
import { redeliverOperation } from './device/redeliver.ts'
import { releaseOperation } from './device/release.ts'
import { eventOperations } from './events/operations.ts'
import { type ApiState, type KnownApi, readApiStates, unknownStates } from './api-states.ts'
import type { FactSources } from './facts.ts'
import { findingOperations } from './findings.ts'
import { misunderstoodOperations } from './kept-frames.ts'
import { type MappingSources, mappingOperations } from './mappings/operations.ts'
import { laneOperations, type ParkedSources, parkedOperations } from './lanes.ts'
import { type MonitoringSources, monitoringOperations } from './monitoring.ts'
import { oidcOperations, serveSignIn } from './oidc/operations.ts'
import { Provider } from './oidc/provider.ts'
import { SignIns } from './oidc/sign-ins.ts'
import { openApiOperation, register } from './operation.ts'
import { type PageSettings, servePage } from './page.ts'
import { readPlaces } from './places.ts'
import { Puller, type PullerSources } from './pull/index.ts'
import { ReadLog, readOperations } from './reads.ts'
import { type RelaySources, relayOperations, tokenRefusals } from './relay/operations.ts'
import { offerOperations } from './roster/offers.ts'
import { rosterResultOperations, rosterSource, undoOperation } from './roster/results.ts'
import { routeOperations } from './roster/routes.ts'
import { type RosterInEffect, rosterWrites } from './roster/writes.ts'
import { tokenOperation } from './token.ts'
import { trialOperation } from './trial.ts'
import { Verifier, type VerifierSources } from '../verify/index.ts'
import { verifyOperation } from './verify.ts'
import { CLOSE_TIMEOUT_MS, createServer } from './server.ts'
import type { SetupJson } from './schemas/setups.ts'
import { setupOperation } from './setups.ts'
import { type StatusSources, statusJson, statusOperations } from './status.ts'

export { adminTokens, portAddress, type Tokens } from './access.ts'
export { knownApis } from './api-states.ts'
export { apiOf } from './apis.ts'
export type { FindSpoken } from './device/lost-senders.ts'

export interface AdminOptions
  extends DeviceSources,
    MonitoringSources,
    ParkedSources,
    Pick<ApiSources, 'api'>,
    Pick<FactSources, 'isVerified' | 'redisDir'>,
    Pick<RelaySources, 'companies' | 'tracking' | 'heldBytes'>,
    Pick<HttpServerOptions, 'readerMs'> {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  /** The tokens that are valid now. */
  readonly tokens: () => readonly AdminToken[]
  /** How people sign in now; null: they do not. */
  readonly oidc: () => OidcConfig | null
  /** Whether a proxy with TLS is in front of the port. */
  readonly isBehindProxy: boolean
  /** Whether reads of positions are logged now. */
  readonly logsReads: () => boolean
  /** The files of the port's certificate; without them it has no TLS. */
  readonly tls: CertificateFiles | null
  readonly live: RosterInEffect
  /** The tracking APIs that companies push to. */
  readonly apis: () => readonly KnownApi[]
  readonly speaks?: FindSpoken
  /** The rosters to pull. */
  readonly pulls: PullerSources['pulls']
  /** The copies that are configured. */
  readonly copies: CopySources['copies']
  /** The receivers of alerts; undefined until they are known. */
  readonly alerts: () => AlertReceivers | undefined
  /** Resolves to the settings and SMS that point trackers at this server. */
  readonly setups: () => Promise<readonly SetupJson[]>
  /** The mappings of mappings.yaml, and what reads JSON by one. */
  readonly mappings: MappingSources
  /** Settings of the page; without them, there is no page. */
  readonly page?: PageSettings
  /** How delivered fixes are compared with the tracking API. */
  readonly verify: Pick<VerifierSources, 'batch' | 'gapMs' | 'keptMs' | 'pauseMs' | 'settings'>
}

/** An open admin port, and the present findings. */
export type Admin = Awaited<ReturnType<typeof openAdmin>>

/**
 * Opens the admin port; at most one in a process, whose metrics get its gauges. Its `jobs` are to be done once a second.
 * @throws where it cannot listen
 */
export async function openAdmin(options: AdminOptions) {
  const { alerts, apis, logger, oidc, redis } = options
  const certificate = options.tls ? new ServedCertificate(options.tls, 'admin') : undefined
  const tokens = tokenRefusals(options.companies)
  const zone = () => options.live.config.time_zone
  const change = rosterWrites(options)
  const puller = new Puller({ ...options, change })
  const verifier = new Verifier({
    ...options,
    ...options.verify,
    zone,
    async isUp() {
      const states = await readApiStates(redis, apis(), Date.now())
      return (company) => states.find(({ companies }) => companies.includes(company))?.state === 'up'
    },
    answered: tokens.answered,
  })
  const collectors = openCollectors({
    ...options,
    puller,
    verifier,
    tokensRefused: tokens.refused,
    alertsFailing: () => alerts()?.failing() ?? [],
  })
  const { account, apiStates, copies, custody, startedAt, rates, index, devices, gatherer, hour, findings, refusals } =
    collectors
  const rows = { ...options, index, findings, refusals, places: await readPlaces() }
  const closing = new AbortController()
  const files = new FileRewrite(redis)
  const sheets = new DaySheets({ ...options, index, account })
  const server = createServer({ ...options, secure: certificate?.context })
  certificate?.follow((renewed) => server.renew(renewed))
  const companyOf = (device: string) => options.directory().find(device)?.company_id
  const companyMeant = (device: string) => options.directory().meant(device)[0]?.company_id
  keepAudit(server.app, { redis, logger, secrets: () => secretsOf(options), companyOf: companyMeant })
  const idOf = (device: string) => options.directory().find(device)?.id ?? sameId(device)
  const reads = new ReadLog({ redis, logger, isOn: options.logsReads, companyOf: companyMeant, idOf })
  reads.keep(server.app)
  const isSecure = () => Boolean(options.tls || options.isBehindProxy || oidc()?.url?.startsWith('https:'))
  const provider = new Provider({ oidc, logger })
  const signIns = new SignIns({ redis, oidc, provider, isSecure, logger })
  const { personOf } = signIns
  const status: StatusSources = {
    account: lastKnown(account, () => custody.account),
    companies: options.companies,
    apis: lastKnown<readonly ApiState[]>(apiStates, () => unknownStates(apis(), startedAt)),
    findings,
    gatherer,
    copies,
    vans: (scope) => devices.vans(scope),
    overdue: (scope) => devices.overdue(scope),
    rates: () => rates.now(),
    hour,
    tokensRefused: tokens.refused,
    trial: lastKnown(
      async () => (gatherer.gateways.trials > 0 ? readTrialAccount(redis) : undefined),
      () => undefined,
    ),
    zone,
  }
  const events = eventOperations({
    findings,
    status: (scope) => statusJson(status, scope),
    sources: () => [deviceSource(rows), arrivalSource(options), rosterSource(redis), auditSource(redis)],
    async isAllowed(request, { key }) {
      const caller = await callerOf(request, options.tokens(), personOf)
      return 'scope' in caller && caller.scope.key === key
    },
    noteRead: (request) => reads.noteStream(request),
  })
  const operations = [
    ...monitoringOperations(options),
    ...statusOperations(status),
    ...findingOperations(findings, options.live),
    ...events.operations,
    ...laneOperations(redis, account),
    ...copyOperations(options),
    ...deviceListOperations(rows),
    importOperation(options, change),
    ...deviceOperations(rows, change),
    chainOperation({ ...rows, apiStates }),
    forgetOperation({ ...options, files }),
    releaseOperation(options),
    ...frameOperations(options),
    historyOperation(rows),
    daysOperation({ sheets, zone }),
    ...routeOperations(options, change),
    ...assignmentOperations(options, change),
    redeliverOperation(options),
    ...offerOperations(options),
    ...rosterResultOperations(options),
    undoOperation(options, change),
    ...parkedOperations(options),
    ...apiOperations(options),
    ...alertOperations(alerts),
    verifyOperation({ redis, verifier, keptMs: options.verify.keptMs, zone, closing: closing.signal }),
    trialOperation({ ...options, trials: () => gatherer.gateways.trials }),
    ...enrolmentOperations(redis),
    ...misunderstoodOperations(options),
    ...arrivalOperations(options),
    ...mappingOperations(redis, options.mappings),
    setupOperation(options.setups),
    ...auditOperations(redis),
    ...readOperations(redis),
    tokenOperation(),
    ...oidcOperations({ oidc, provider, signIns, isSecure, logger }),
    ...relayOperations({ ...options, tokens, closing: closing.signal }),
  ]
  const access = accessBy(options.tokens, personOf)
  register(server.app, [...operations, openApiOperation(operations)], { access, companyOf })
  serveSignIn(server.app, { oidc, provider, signIns, isSecure, logger })
  if (options.page) await servePage(server.app, options.page, access)

  /** Accepts no more requests, and answers those that have arrived. */
  async function stop(): Promise<void> {
    collectors.close()
    verifier.close()
    events.close()
    // Requests under way have 2 s; then relayed ones are aborted, and connections without an answer are cut.
    const timer = setTimeout(() => closing.abort(), CLOSE_TIMEOUT_MS)
    await Promise.all([server.close(), certificate?.close(), puller.close()])
    await files.close()
    clearTimeout(timer)
    closing.abort()
  }
  try {
    const jobs = { ...collectors.jobs, ...events.jobs }
    return { port: await server.listen(options.listen), jobs, findings, sheets, close: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What was answered last, while it is not answered now, or not within a second; `known`: what holds until it was. */
function lastKnown<Answer>(ask: () => Promise<Answer>, known: () => Answer): () => Promise<Answer>
function lastKnown<Answer>(
  ask: () => Promise<Answer>,
  known: () => Answer | undefined,
): () => Promise<Answer | undefined>
function lastKnown<Answer>(ask: () => Promise<Answer>, known: () => Answer | undefined) {
  let last: Answer | undefined
  return async () => {
    await within(
      PATIENCE_MS,
      ask().then((answer) => (last = answer)),
    ).catch(() => {})
    return last ?? known()
  }
}

function secretsOf({ tokens, metricsToken, companies, copies, oidc, pulls }: AdminOptions): string[] {
  return [
    oidc()?.client_secret ?? [],
    ...copies().flatMap(({ headers, secret = [] }) => [secret, ...Object.values(headers)].flat()),
    ...pulls().flatMap(({ token = [] }) => token),
    metricsToken() ?? [],
    ...tokens().map(({ token }) => token),
    ...companies().flatMap(({ apikey, oauth_token = [] }) => [apikey, oauth_token].flat()),
  ].flat()
}

const PATIENCE_MS = 1000
