import type { Pull } from '../../config/pull.ts'
import { ApiRefusal } from '../../http/refusal.ts'
import { unresolved } from '../../roster/advice.ts'
import { assignmentField } from '../../roster/assignment.ts'
import { pulledDifference, pulledNote, readPulled } from '../../roster/pulls.ts'
import { offersOf, redeliverAgreed } from '../../roster/offers.ts'
import { countLines, keptPut, type RosterResult } from '../../roster/puts.ts'
import { planRedelivery } from '../../roster/redelivery.ts'
import type { Roster } from '../../roster/roster.ts'
import { say } from '../../texts/text.ts'
import { putJson, putResult } from '../roster/answer.ts'
import { readRosterBody, refuseLines, type RosterBody } from '../roster/body.ts'
import { effectOnDevices } from '../roster/plan.ts'
import type { RosterSources, RosterWrites } from '../roster/writes.ts'

export interface PullSources extends RosterSources {
  readonly change: RosterWrites
}

/** Result of taking a pulled roster. */
export interface TakenRoster {
  readonly result: RosterResult
  /** Whether its lines differ from those taken last. */
  readonly isChanged: boolean
}

/**
 * Writes the lines in which a pulled roster differs from the previous pull; a line that another writer has changed since
 * stays. Reports a line that names no device of the company; it takes effect once the device exists. @throws ApiRefusal if a
 * put of the roster would be refused; then nothing of it takes effect
 */
export async function takeRoster(
  bytes: Buffer,
  pull: Pull,
  { redis, live, change }: PullSources,
): Promise<TakenRoster> {
  const body = await readPulledBody(bytes, live.config.time_zone)
  const taken = await change(async (roster, asOf) => {
    const plan = await planPull({ body, pull, roster, before: await readPulled(redis, pull) })
    const answer = await putJson(plan, { body, roster, zone: live.config.time_zone })
    const by = { writer: pull.name, company_id: pull.company_id }
    const result: RosterResult = { ...putResult(answer, by), kind: 'pull' }
    const { fields, isChanged, lines } = plan
    if (!isChanged) return { result, isChanged }
    const kept = lines.length > 0 ? await keptPut(result, { ...ALWAYS, change: lines, roster }) : undefined
    const keepMs = live.config.keep.delivered
    const { after, changing } = plan
    const redelivery = await planRedelivery(redis, { before: roster, after, devices: changing, keepMs })
    const offers = offersOf(redelivery, { asOf, decision: live.config.roster.redeliver, writer: pull.name })
    return {
      result,
      isChanged,
      write: { assignments: lines, files: await pulledNote(pull, fields), offers, put: kept },
    }
  })
  if (live.config.roster.redeliver === 'always') await redeliverAgreed(redis)
  return { result: taken.result, isChanged: taken.isChanged }
}

interface Pulled {
  readonly body: RosterBody
  readonly pull: Pull
  readonly roster: Roster
  /** The fields of the lines that were taken last, if any were. */
  readonly before: ReadonlySet<string> | undefined
}

async function planPull({ body, pull, roster, before }: Pulled) {
  const { company_id } = pull
  const { rows, mistakes } = body.file
  const missing = await unresolved(rows, roster, (device) => device.company_id === company_id)
  const leftOut = mistakes.filter(({ severity }) => severity === 'left_out')
  const rejected = [...leftOut, ...missing].toSorted((a, b) => a.at - b.at)
  const waiting = new Set(missing.map(({ at }) => at))
  const taken = rows.filter(({ at }) => !waiting.has(at))
  if (taken.length === 0 && rejected.length > 0) throw refuseLines(rejected, body)
  const fields = new Set(rows.map(assignmentField))
  const known = before ?? new Set<string>()
  const lines = await pulledDifference(rows, { before: known, pull, roster })
  const effect = await effectOnDevices({ assignments: lines }, roster, { ...ALWAYS, company_id, now: Date.now() })
  if (effect.loss) throw new ApiRefusal(409, say('would take the route from {} now: it is not in effect', effect.loss))
  const isChanged = before === undefined || fields.symmetricDifference(before).size > 0
  return { ...effect, ...countLines(known, fields), rows: taken, rejected, lines, fields, isChanged }
}

/** Reads a roster as it was pulled; `zone`: of its local times. @throws ApiRefusal if nothing of it can be used */
export async function readPulledBody(bytes: Buffer, zone: string): Promise<RosterBody> {
  return readRosterBody(bytes, typeOf(bytes), zone)
}

/** Servers name the type of such a file in many ways, so what it begins with decides. @throws ApiRefusal for a page */
function typeOf(bytes: Buffer): string {
  const first = bytes
    .toString('utf8', 0, LOOKED_AT)
    .replace(/^\ufeff/, '')
    .trimStart()
    .charAt(0)
  if (first === '<') throw new ApiRefusal(422, say('it is a page (HTML), no roster: its server may want a login'))
  return first === '[' || first === '{' ? 'application/json' : 'text/csv'
}

const LOOKED_AT = 1000
/** A pulled roster is not limited to an interval. */
const ALWAYS = { from: 0, until: Infinity }
