import * as z from 'zod'
import { type Interval, localDay, timesIn } from '../../config/times.ts'
import { noSuchDevice } from '../../roster/advice.ts'
import { cutLines } from '../../roster/cut.ts'
import type { DeviceEntry } from '../../roster/directory.ts'
import { forgetOldPuts, keptPut } from '../../roster/puts.ts'
import { assignmentField, type Roster } from '../../roster/roster.ts'
import { suggestionsIn } from '../../roster/suggest.ts'
import type { FieldTexts } from '../../roster/table.ts'
import { isJson, jsonText, parseJson, readBody } from '../../tracking/body.ts'
import { ApiRefusal, parse, refuseFields } from '../../tracking/refusal.ts'
import { Id } from '../../tracking/schemas.ts'
import { AssignedJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { putResult, takenJson } from '../roster/answer.ts'
import { instantIn } from '../roster/interval.ts'
import type { TakenRoute } from '../roster/plan.ts'
import { Flag, type RosterSources } from '../roster/routes.ts'
import type { RosterWrites } from '../roster/writes.ts'
import { type AssignmentPlan, assignmentTexts, assignmentWarnings, routesIn } from './assignment.ts'
import { Scope } from '../scope.ts'

/**
 * `POST /admin/devices/{id}/assign`: gives a device a route, or from a time on the routes of another one, which loses them
 * (a swap); `POST /admin/devices/{id}/unassign`: takes it off its routes from a time on. `id`: also a name, which may mean several
 * trackers of one vehicle. Both are puts, which can be taken back.
 */
export function assignmentOperations(sources: RosterSources, change: RosterWrites): Operation[] {
  const shared = {
    method: 'POST',
    query: AssignQuery,
    answer: AssignedJson,
    refusals: [404, 409, 415, 504],
    companies: 'filtered',
    isDryRun: ({ query }) => (query as { dry_run?: unknown }).dry_run === 'true',
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
      path: '/admin/devices/{id}/unassign',
      id: 'unassignDevice',
      summary: 'Take a device off its routes from a time on',
      body: UnassignBody,
      handle: assigning(sources, change, { schema: UnassignBody, plan: planUnassign }),
    },
  ]
}

/** A body, and what it comes to for the roster as it is. */
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
    const { dry_run, force } = parse(AssignQuery, request.query)
    const body = parse(schema, await readJson(request))
    const outcome = await change(async (roster) => {
      const devices = devicesMeant(roster, id, { field: 'id', scope })
      const { company_id } = devices[0]
      const now = Math.floor(Date.now() / 1000)
      const planned = { ...plan({ body, devices, roster, live, now }), doubts: doubtsOf(body, live) }
      const { interval, assignments } = planned
      const answer = answerOf(planned, { devices, roster, zone: live.config.time_zone })
      const taken = planned.takes.filter(({ device }) => !devices.includes(device))
      if (taken.length > 0 && force !== 'true' && dry_run !== 'true')
        return { status: 409, answer: { message: takesMessage(taken), ...answer } }
      if (dry_run === 'true') return { status: 200, answer }
      const warnings = answer.warnings.map((message) => ({ line: 0, message }))
      const result = putResult({ ...answer, warnings }, { writer: request.caller?.label ?? '', company_id })
      const put = await keptPut(result, { ...interval, lines: assignments, before: roster })
      const summary = { added: answer.added, removed: answer.removed }
      return { status: 200, answer, write: { assignments, put }, company_id, summary }
    })
    const { status, answer, version, company_id, summary } = outcome
    request.audit = summary
    if (version !== undefined && company_id !== undefined) await forgetOldPuts(redis, company_id, Date.now())
    return reply.code(status).send({ ...answer, put: version === undefined ? undefined : String(version) })
  }
}

const AssignQuery = z.object({ dry_run: Flag, force: Flag })
const IdOrNumber = z.union([z.string(), z.int().transform(String)]).pipe(Id)
const Time = z.string('expected one time').optional()
const Bounds = { from_at: Time, until_at: Time }
const AssignBody = z
  .strictObject({
    route_id: IdOrNumber.optional(),
    courier_id: IdOrNumber.optional(),
    like: z.string().optional(),
    ...Bounds,
  })
  .refine(({ route_id, like }) => (route_id === undefined) !== (like === undefined), 'expected either route_id or like')
  .refine(({ courier_id, like }) => courier_id === undefined || like === undefined, {
    path: ['courier_id'],
    message: 'cannot be combined with like: the courier goes with the route',
  })
const UnassignBody = z.strictObject(Bounds)

/** What is asked for, and the roster as it is. `now`: unix seconds. */
interface AssignmentRequest<Body> {
  readonly body: Body
  readonly devices: readonly DeviceEntry[]
  readonly roster: Roster
  readonly live: RosterSources['live']
  readonly now: number
}

function planAssign({
  body,
  devices,
  roster,
  live,
  now,
}: AssignmentRequest<z.infer<typeof AssignBody>>): AssignmentPlan {
  const { like, route_id = '', courier_id = '' } = body
  const interval = boundsOf(body, { live, now })
  const [{ company_id }] = devices
  if (like !== undefined)
    return planSwap(like, { devices, roster, live, interval, hasEnd: body.until_at !== undefined })
  const lineless = devices.find((device) => courier_id === '' && device.courier_id === undefined)
  if (lineless)
    throw refuseFields(422, [
      { path: 'courier_id', message: `missing, and device ${lineless.id} has no courier_id of its own` },
    ])
  const until = body.until_at === undefined ? endOfDay(interval.from, live) : interval.until
  const line = { ...interval, until, courier_id, route_id }
  const gives = [{ ...line, courier_id: courier_id || (devices[0].courier_id ?? '') }]
  return { interval: line, takes: [], gives, assignments: linesFor(devices, [line], company_id) }
}

/** Devices take the routes of another vehicle: those of its first tracker. */
function planSwap(
  like: string,
  asked: Pick<AssignmentRequest<unknown>, 'devices' | 'roster' | 'live'> & {
    readonly interval: Interval
    readonly hasEnd: boolean
  },
): AssignmentPlan {
  const { devices, roster, live, interval, hasEnd } = asked
  const [{ company_id }] = devices
  const from = devicesMeant(roster, like, { field: 'like', scope: new Scope([company_id]) })
  if (from.some((device) => devices.includes(device)))
    throw refuseFields(422, [{ path: 'like', message: 'this is the same device' }])
  // The usual route of an entry has no end: it is taken over for the day.
  const usualUntil = hasEnd ? interval.until : endOfDay(interval.from, live)
  const gives = routesIn(from[0], interval, usualUntil)
  if (gives.length === 0)
    throw new ApiRefusal(422, `${from[0].name ?? from[0].id} has no route from then on: there is nothing to take over`)
  const assignments = [...cutLines(from, interval, roster), ...linesFor(devices, gives, company_id)]
  const takes = gives.map((stay) => ({ device: from[0], route_id: stay.route_id, from: stay.from, until: stay.until }))
  return { interval, assignments, takes, gives, from }
}

function planUnassign({
  body,
  devices,
  roster,
  live,
  now,
}: AssignmentRequest<z.infer<typeof UnassignBody>>): AssignmentPlan {
  const interval = boundsOf(body, { live, now })
  const assignments = cutLines(devices, interval, roster)
  if (assignments.length === 0) {
    const [{ id, name = id, usual }] = devices
    const hint = usual
      ? `; its entry (${usual.source}) gives it route ${usual.lane.route} for all times: change that`
      : ''
    throw new ApiRefusal(422, `${name} has no line from then on that could end${hint}`)
  }
  const takes = devices.flatMap((device) =>
    device.stays
      .filter(({ from, until }) => from < interval.until && until > interval.from)
      .map(({ lane, from, until }) => ({
        device,
        route_id: lane.route,
        from: Math.max(from, interval.from),
        until: Math.min(until, interval.until),
      })),
  )
  return { interval, assignments, takes, gives: [] }
}

/** Lines of a put for devices. */
function linesFor(devices: readonly DeviceEntry[], lines: AssignmentPlan['gives'], company_id: string): FieldTexts {
  return devices.flatMap(({ id }) =>
    lines.map(({ from, until, courier_id, route_id }, index) => {
      const field = assignmentField({ device: id, from, until, courier_id, route_id })
      return [field, JSON.stringify({ company_id, line: index + 1 })] as const
    }),
  )
}

/** From now on, or from the given time; without an end for ever. */
function boundsOf(
  { from_at, until_at }: { readonly from_at?: string; readonly until_at?: string },
  { live, now }: Pick<AssignmentRequest<unknown>, 'live' | 'now'>,
): Interval {
  const from = from_at === undefined || from_at === 'now' ? now : Math.floor(instantIn(live, 'from_at', from_at))
  const until = until_at === undefined ? Infinity : Math.floor(instantIn(live, 'until_at', until_at))
  if (until <= from) throw refuseFields(422, [{ path: 'until_at', message: 'not after from_at' }])
  return { from, until }
}

/** Why local times of a body are in doubt. */
function doubtsOf(body: unknown, { config }: RosterSources['live']): string[] {
  const { from_at = '', until_at = '' } = body as { readonly from_at?: string; readonly until_at?: string }
  return [from_at, until_at].flatMap((text) => timesIn(config.time_zone).doubt(text) ?? [])
}

function endOfDay(from: number, { config }: RosterSources['live']): number {
  return localDay(from * 1000, config.time_zone).until / 1000
}

/** The devices that are seen and that a text means. @throws ApiRefusal 404 for the path, 422 for a field */
function devicesMeant(
  roster: Roster,
  text: string,
  { field, scope }: { readonly field: 'id' | 'like'; readonly scope: Scope },
): DeviceEntry[] {
  const seen = roster.within((company_id) => scope.sees(company_id))
  const meant = seen.meant(text)
  const known = meant.filter((device) => device.company_id === meant[0].company_id)
  if (known.length > 0) return known
  const message = noSuchDevice(text, suggestionsIn(seen)(text))
  throw field === 'id' ? new ApiRefusal(404, message) : refuseFields(422, [{ path: field, message }])
}

async function readJson(request: Parameters<Operation['handle']>[0]): Promise<unknown> {
  const bytes = await readBody(request.raw, MAX_ASSIGN_BYTES)
  if (bytes.length === 0) return {}
  if (!isJson(request.headers['content-type'])) throw new ApiRefusal(415, 'send the body as application/json')
  return parseJson(jsonText(bytes), (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  )
}

function answerOf(
  plan: AssignmentPlan,
  context: { readonly devices: readonly DeviceEntry[]; readonly roster: Roster; readonly zone: string },
): z.infer<typeof AssignedJson> {
  const added = plan.assignments.filter(([, text]) => text !== null).length
  return {
    added,
    removed: plan.assignments.length - added,
    takes: plan.takes.map(takenJson),
    warnings: assignmentWarnings(plan, context),
    text: assignmentTexts(plan, context),
  }
}

function takesMessage(takes: readonly TakenRoute[]): string {
  const names = [...new Set(takes.map(({ device: { id, name = id } }) => name))].join(', ')
  return `this takes the route from ${names}: nothing is changed; send it with force=true if it is meant`
}

const MAX_ASSIGN_BYTES = 65_536
