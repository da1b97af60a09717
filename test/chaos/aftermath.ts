import { untilSo } from '../support/processes.ts'
import { custodyOnce, isAtRest, type Status } from '../rig/product.ts'
import type { Edit } from './edits.ts'
import { redeliverPast } from './roster.ts'
import type { System } from './system.ts'

/** What the admin port says once all is at rest. */
export interface Aftermath {
  readonly custody: Status['custody'] | undefined
  /** How many fixes were read back from the API. */
  readonly checked: number
  /** A sentence for each problem. */
  readonly problems: readonly string[]
}

/** Resolves once nothing waits, and nothing is left to correct, or a time is over. */
export async function atRest(edits: readonly Edit[], system: System): Promise<Aftermath> {
  const past = edits.filter(({ kind, answeredAt }) => kind === 'past' && answeredAt !== undefined)
  await custodyOnce(system.status, isAtRest, { withinMs: DELIVERED_BY_MS })
  // Whoever got no answer about it asks again.
  const unpromised = past.filter(({ isPromised }) => !isPromised)
  const problems: string[] = []
  for (const edit of unpromised) {
    const isAnswered = () => redeliverPast(edit, system).then(() => true)
    if (!(await untilSo(isAnswered, { withinMs: ANSWERED_BY_MS, everyMs: 500 })))
      problems.push(`the redelivery for ${edit.device} was never answered`)
  }
  const isCorrected = async () => {
    for (const edit of past) if ((await redeliverPast(edit, system, true)) > 0) return false
    return isAtRest((await system.status()).custody)
  }
  if (!(await untilSo(isCorrected, { withinMs: CORRECTED_BY_MS, everyMs: 1000 })))
    problems.push('there is still something to correct')
  const custody = await custodyOnce(system.status, isAtRest, { withinMs: DELIVERED_BY_MS })
  const verified = await verifyRoutes(past, system)
  return {
    custody,
    checked: verified.checked,
    problems: [...problems, ...verified.problems, ...(await dayProblems(system)), ...(await accusations(system))],
  }
}

/** Reads back the routes of the first lines of the past, of which nothing may be missing, once their time can be compared. */
async function verifyRoutes(past: readonly Edit[], system: System) {
  let read = await readRoutes(past, system)
  const isRead = async () => {
    if (read.checked === 0 && read.problems.length === 0) read = await readRoutes(past, system)
    return read.checked > 0 || read.problems.length > 0 || past.length === 0
  }
  if (!(await untilSo(isRead, { withinMs: READ_BY_MS, everyMs: 5000 }))) read.problems.push('nothing was read back')
  return read
}

async function readRoutes(past: readonly Edit[], system: System) {
  const problems: string[] = []
  let checked = 0
  for (const { lane } of past.slice(0, MOST_ROUTES)) {
    const [, route] = lane.split('/')
    const answer = await system.admin(`/admin/verify?route_id=${route}`, { method: 'POST' }).catch(() => undefined)
    const result = answer?.ok ? ((await answer.json()) as VerifyResult) : undefined
    if (!result) problems.push(`route ${route} cannot be verified: ${answer?.status} ${await answer?.text()}`)
    else if (result.missing.length > 0)
      problems.push(`an honest API is accused: ${JSON.stringify(result.missing).slice(0, 500)}`)
    checked += result?.checked ?? 0
  }
  return { checked, problems }
}

interface VerifyResult {
  readonly checked: number
  readonly missing: readonly unknown[]
}

async function accusations(system: System): Promise<string[]> {
  const found = (await system.status()).findings.filter(({ code }) => code === 'missing_at_api')
  return found.map(({ evidence }) => `an honest API is accused: ${evidence.join('; ')}`)
}

/** The day sheets of which the minutes do not add up. */
async function dayProblems(system: System): Promise<string[]> {
  const sheets: DaySheet[] = []
  let page = ''
  do {
    const answer = await system.admin(
      `/admin/days?max_results=1000${page && `&page_token=${encodeURIComponent(page)}`}`,
    )
    const { results, next_page_token = '' } = (await answer.json()) as {
      results: DaySheet[]
      next_page_token?: string
    }
    sheets.push(...results)
    page = next_page_token
  } while (page)
  if (sheets.length === 0) return ['there are no day sheets']
  return sheets
    .filter(({ planned_min, covered_min, by_reason }) => {
      return planned_min !== Object.values(by_reason).reduce((sum, min) => sum + min, covered_min)
    })
    .map((sheet) => `a day sheet does not add up: ${JSON.stringify(sheet).slice(0, 500)}`)
}

interface DaySheet {
  readonly planned_min: number
  readonly covered_min: number
  readonly by_reason: Readonly<Record<string, number>>
}

const DELIVERED_BY_MS = 90_000
const ANSWERED_BY_MS = 30_000
const CORRECTED_BY_MS = 90_000
/** Windows of 100 s are compared once they are over. */
const READ_BY_MS = 120_000
const MOST_ROUTES = 5
