import * as z from 'zod'
import { isZone, timesIn } from '../../domain/times.ts'
import { ApiRefusal, parse } from '../../http/refusal.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { keptPut } from '../../roster/puts.ts'
import { planRedelivery } from '../../roster/redelivery.ts'
import { Roster } from '../../roster/roster.ts'
import type { WithTexts } from '../../texts/language.ts'
import { english, say, type Text } from '../../texts/text.ts'
import { isJson, jsonText, parseJson } from '../../tracking/body.ts'
import { Id } from '../../tracking/schemas.ts'
import { readRequestBody } from '../access.ts'
import { asWritten } from '../list-body.ts'
import type { Operation } from '../operation.ts'
import { putResult, takenJson } from '../roster/answer.ts'
import type { TakenRoute } from '../roster/plan.ts'
import { agreedOffers, noteChange, redeliverJson } from '../roster/redelivery.ts'
import type { RosterSources, RosterWrites } from '../roster/writes.ts'
import { closedQuery, each, Flag } from '../schemas/parts.ts'
import { AssignedJson } from '../schemas/roster.ts'
import { type AssignmentPlan, assignmentTexts, assignmentWarnings } from './assignment.ts'
import { type AssignmentRequest, devicesMeant, planAssign, planSwap, planUnassign } from './assignment-plan.ts'

/**
 * `POST /admin/devices/{id}/assign`: gives a device a route or, from a time on, the routes of another device, which loses
 * them. `POST /admin/devices/{id}/swap`: two devices exchange their routes for a time. `POST /admin/devices/{id}/unassign`:
 * ends the routes of a device at a time. `id` may be a name, which may mean several trackers of one vehicle. Each change is
 * one put, which can be undone.
 */
export function assignmentOperations(sources: RosterSources, change: RosterWrites): Operation[] {
  const shared = {
    method: 'POST',
    query: AssignQuery,
    answer: AssignedJson,
    refusals: [404, 409, 415, 504],
    companies: 'filtered',
  } as const satisfies Partial<Operation>
  return [
    {
      ...shared,
      path: '/admin/devices/{id}/assign',
      id: 'assignDevice',
      summary: 'Give a device a route for a time, or from a time on the routes of another device, which loses them',
      body: AssignBody,
      handle: assigning(sources, change, { schema: AssignBody, plan: planAssign }),
    },
    {
      ...shared,
      path: '/admin/devices/{id}/swap',
      id: 'swapDevices',
      summary: 'Let two devices exchange their routes for a time, by default until the end of the day',
      body: SwapBody,
      handle: assigning(sources, change, { schema: SwapBody, plan: planSwap }),
    },
    {
      ...shared,
      path: '/admin/devices/{id}/unassign',
      id: 'unassignDevice',
      summary: 'Take a device off its routes from a time on',
      body: UnassignBody,
      handle: assigning(sources, change, { schema: UnassignBody, plan: planUnassign }),
    },
  ]
}

/** A kind of assignment: how to read its body, and how to plan its change of the roster. */
interface AssignmentKind<Body> {
  readonly schema: z.ZodType<Body>
  readonly plan: (asked: AssignmentRequest<Body>) => AssignmentPlan
}

function assigning<Body>(
  { live, redis }: RosterSources,
  change: RosterWrites,
  { schema, plan }: AssignmentKind<Body>,
): Operation['handle'] {
  return async (request, reply, scope) => {
    const { id } = request.params as { id: string }
    const { dry_run, force, redeliver } = parse(AssignQuery, request.query)
    const body = parse(schema, await readJson(request))
    const outcome = await change(async (roster, asOf) => {
      const devices = devicesMeant(roster, id, { field: 'id', scope })
      const { company_id } = devices[0]
      const now = Math.floor(Date.now() / 1000)
      const planned = { ...plan({ body, devices, roster, live, now }), doubts: doubtsOf(body, live) }
      const { interval, assignments } = planned
      const after = new Roster(roster)
      const concerned = after.entriesOf(after.apply({ assignments }))
      const keepMs = live.config.keep.delivered
      const redelivery = await planRedelivery(redis, { before: roster, after, devices: concerned, keepMs })
      const zone = zoneFor(request, live)
      const isOffered = (redelivery?.moves.length ?? 0) > 0
      const answer = { ...answerOf({ ...planned, isOffered }, { devices, roster, zone }), ...redeliverJson(redelivery) }
      // Who swaps expects that both vehicles have a route afterwards.
      const taken = planned.takes.filter(({ device }) => planned.returns || !devices.includes(device))
      if (taken.length > 0 && force !== 'true' && dry_run !== 'true')
        return { status: 409, answer: { message: takesMessage(taken), ...answer } }
      if (dry_run === 'true') return { status: 200, answer }
      const warnings = answer.warnings.map((message) => ({ line: 0, message }))
      const result = putResult({ ...answer, warnings }, { writer: request.caller?.label ?? '', company_id })
      const put = await keptPut(result, { ...interval, change: assignments, roster })
      const summary = { added: answer.added, removed: answer.removed }
      const offers = agreedOffers(redelivery, { asOf, redeliver, writer: result.writer })
      return { status: 200, answer, write: { assignments, offers, put }, summary, redelivery }
    })
    const { status, answer, version } = outcome
    await noteChange(request, redis, { ...outcome, redeliver })
    return reply.code(status).send({ ...answer, put: version === undefined ? undefined : String(version) })
  }
}

/** Returns the time zone of times in texts: that of the header `time-zone`, else that of the roster. */
function zoneFor({ headers }: Parameters<Operation['handle']>[0], { config }: RosterSources['live']): string {
  const wanted = headers['time-zone']
  return typeof wanted === 'string' && isZone(wanted) ? wanted : config.time_zone
}

const AssignQuery = closedQuery({ dry_run: Flag, force: Flag, redeliver: Flag })
const Time = z.string('expected one time').optional()
const Bounds = { from_at: Time, until_at: Time }
const NOT_WITH_LIKE = say('cannot be combined with like: the courier goes with the route')
const AssignBody = z
  .strictObject({
    ...each(Id.optional(), 'route_id', 'courier_id'),
    like: z.string().optional(),
    ...Bounds,
  })
  .refine(({ route_id, like }) => (route_id === undefined) !== (like === undefined), 'expected either route_id or like')
  .refine(({ courier_id, like }) => courier_id === undefined || like === undefined, {
    path: ['courier_id'],
    message: english(NOT_WITH_LIKE),
    params: { text: NOT_WITH_LIKE },
  })
const SwapBody = z.strictObject({ with: z.string('expected the id or the name of the other device'), ...Bounds })
const UnassignBody = z.strictObject(Bounds)

/** Why local times of a body are in doubt. */
function doubtsOf(body: unknown, { config }: RosterSources['live']): Text[] {
  const { from_at = '', until_at = '' } = body as { readonly from_at?: string; readonly until_at?: string }
  return [from_at, until_at].flatMap((text) => timesIn(config.time_zone).doubt(text) ?? [])
}

/** Reads the JSON of a body, with numbers as text, so that ids keep all digits. */
export async function readJson(request: Parameters<Operation['handle']>[0]): Promise<unknown> {
  const bytes = await readRequestBody(request, MAX_ASSIGN_BYTES)
  if (bytes.length === 0) return {}
  if (!isJson(request.headers['content-type'])) throw new ApiRefusal(415, 'send the body as application/json')
  return parseJson(jsonText(bytes), asWritten)
}

function answerOf(
  plan: AssignmentPlan,
  context: { readonly devices: readonly DeviceEntry[]; readonly roster: Roster; readonly zone: string },
): WithTexts<AssignedJson> {
  const added = plan.assignments.filter(([, line]) => line).length
  return {
    added,
    removed: plan.assignments.length - added,
    takes: plan.takes.map(takenJson),
    warnings: assignmentWarnings(plan, context),
    text: assignmentTexts(plan, context),
  }
}

function takesMessage(takes: readonly TakenRoute[]): Text {
  const names = [...new Set(takes.map(({ device: { id, name = id } }) => name))].join(', ')
  return say('this takes the route from {}: nothing is changed; send it with force=true if it is meant', names)
}

const MAX_ASSIGN_BYTES = 65_536
