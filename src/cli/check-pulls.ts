import { fetchRoster, NotPulled } from '../admin/pull/fetch.ts'
import { readPulledBody } from '../admin/pull/take.ts'
import { pullTls } from '../config/certificate.ts'
import { keyedText } from '../config/problem.ts'
import type { Pull } from '../config/pull.ts'
import { ApiRefusal } from '../http/refusal.ts'
import { unresolved } from '../roster/advice.ts'
import type { Roster } from '../roster/roster.ts'
import { english } from '../texts/text.ts'
import { testConnection } from '../tracking/api-test/connection.ts'

/** One step of the test of a pulled roster: what was seen, and what to change where that is not right. */
export interface PullStep {
  readonly step: string
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly seen: string
  readonly action?: string
}

/**
 * Tests how a roster can be pulled: DNS, connection, certificate, its server's answer and the lines in it. Nothing of it takes effect.
 * @param roster the devices of the files: others are not known
 */
export async function testPull(
  pull: Pull,
  { setting, roster, zone }: { readonly setting: string; readonly roster: Roster; readonly zone: string },
): Promise<PullStep[]> {
  const tls = pullTls(pull)
  const host = {
    url: new URL(pull.url),
    setting: `${setting}.url`,
    timeoutMs: STEP_MS,
    ...(tls && !('message' in tls) && { tls }),
  }
  const reached = (await testConnection(host)).map(({ step, state, seen }): PullStep => {
    const action = state === 'ok' ? undefined : state === 'warning' ? RENEW : ACTIONS[step]?.(setting)
    return { step, state, seen: english(seen), action }
  })
  if (reached.some(({ state }) => state === 'failed')) return [...reached, { step: 'roster', ...SKIPPED }]
  return [...reached, await rosterStep(pull, { setting, roster, zone })]
}

async function rosterStep(
  pull: Pull,
  { setting, roster, zone }: { readonly setting: string; readonly roster: Roster; readonly zone: string },
): Promise<PullStep> {
  try {
    const began = performance.now()
    const body = await fetchRoster(pull, { signal: new AbortController().signal })
    const ms = Math.round(performance.now() - began)
    const { file, lineAt } = await readPulledBody(body?.bytes ?? Buffer.alloc(0), zone)
    const leftOut = file.mistakes.filter(({ severity }) => severity === 'left_out')
    const unknown = await unresolved(file.rows, roster, (device) => device.company_id === pull.company_id)
    const bad = [...leftOut, ...unknown].toSorted((a, b) => a.at - b.at)
    const all = file.rows.length + leftOut.length
    const head = `200 in ${ms} ms: ${all - bad.length} of ${all} lines are good`
    if (bad.length === 0) return { step: 'roster', state: 'ok', seen: head }
    const named = bad.slice(0, MOST_NAMED).map((each) => `line ${lineAt(each.at)}: ${english(keyedText(each))}`)
    const seen = [head, ...named].join('; ')
    // A roster of which nothing can be read is refused.
    if (file.rows.length === 0) return failed(seen, CORRECT_ROSTER)
    return { step: 'roster', state: 'warning', seen, action: CORRECT_LINES }
  } catch (error) {
    if (error instanceof NotPulled) return failed(english(error.reason), actionFor(error.status, setting))
    if (error instanceof ApiRefusal) return failed(`200, and it is refused: ${english(error.text)}`, CORRECT_ROSTER)
    throw error
  }
}

function failed(seen: string, action: string): PullStep {
  return { step: 'roster', state: 'failed', seen, action }
}

function actionFor(status: number | undefined, setting: string): string {
  if (status === 401 || status === 403) return `correct ${setting}.token, or ask who runs its server for a new one`
  if (status !== undefined && status < 500) return `correct ${setting}.url`
  return 'tell who runs its server, or try later'
}

/** What to change where a step fails. */
const ACTIONS: Readonly<Record<string, ((setting: string) => string) | undefined>> = {
  dns: (setting) => `correct ${setting}.url, or the DNS of this machine`,
  connection: (setting) => `see that its server runs, and correct ${setting}.url, or the firewall in between`,
  tls: (setting) =>
    `if the authority is your own, name its certificate in ${setting}.ca; otherwise correct ${setting}.url, or have the certificate of its server renewed`,
}
const RENEW = 'have the certificate of its server renewed'
const CORRECT_LINES =
  'correct these lines where the roster is made; a device that is in no file, but was put through the admin port, is not known here'
const CORRECT_ROSTER = 'correct the roster where it is made, or its URL'
const SKIPPED = { state: 'skipped', seen: 'not tested, since a step before failed' } as const
const STEP_MS = 10_000
const MOST_NAMED = 3
