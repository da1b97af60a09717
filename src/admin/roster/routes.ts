import * as z from 'zod'
import { parse, refuseFields } from '../../http/refusal.ts'
import type { Assignment } from '../../roster/assignment.ts'
import { keptPut, noteRefusedPut } from '../../roster/puts.ts'
import { planRedelivery } from '../../roster/redelivery.ts'
import type { Roster } from '../../roster/roster.ts'
import { say, type Text } from '../../texts/text.ts'
import { Id } from '../../tracking/schemas.ts'
import { instant } from '../json.ts'
import { SHEET } from '../list-body.ts'
import type { Operation } from '../operation.ts'
import { type ListPlace, PageQuery, pageOf } from '../paging.ts'
import { closedQuery, each, Flag, onceText, pageSchema } from '../schemas/parts.ts'
import { RosterPutJson, RouteJson } from '../schemas/roster.ts'
import { changesOf, putJson, putResult } from './answer.ts'
import { readRosterBody, refuseLines } from './body.ts'
import { planRoster } from './plan.ts'
import { agreedOffers, noteChange, redeliverJson } from './redelivery.ts'
import { instantIn, intervalOf, type RosterSources, type RosterWrites } from './writes.ts'
import { readRequestBody } from '../access.ts'

/**
 * `GET /admin/routes`: the lines in effect, from files and from this port. `at`: only those that decide at this time; `from`,
 * `until`: only those that hold at some time in between; `device`: only those of this id or name. `PUT /admin/routes`:
 * replaces a company's lines that begin in an interval.
 */
export function routeOperations({ live, redis }: RosterSources, change: RosterWrites): Operation[] {
  const list: Operation['handle'] = async ({ query }, _reply, scope) => {
    const { company_id, device, at, from, until, ...page } = parse(ListQuery, query)
    const roster = live.directory()
    const lines = at === undefined ? allLines(roster) : linesAt(roster, instantIn(live, 'at', at))
    const begin = from === undefined ? -Infinity : instantIn(live, 'from', from)
    const end = until === undefined ? Infinity : instantIn(live, 'until', until)
    if (end < begin) throw refuseFields(422, [{ path: 'until', message: say('not after from') }])
    const meant = device === undefined ? undefined : new Set(roster.meant(device).map(({ id }) => id))
    const isListed = (line: ListedLine) =>
      scope.sees(line.company_id) &&
      (company_id ?? line.company_id) === line.company_id &&
      (meant?.has(line.device) ?? true) &&
      line.from < end &&
      line.until > begin
    const { results, ...rest } = await pageOf(lines, { list: 'routes', placeOf, isListed }, page)
    return { results: results.map(lineJson), ...rest }
  }

  const put: Operation['handle'] = async (request, reply, scope) => {
    const { dry_run, force, only_listed, redeliver, ...which } = parse(PutQuery, request.query)
    const bytes = await readRequestBody(request)
    const zone = live.config.time_zone
    const interval = intervalOf(live, which, scope)
    const covers = { from: interval.from, until: interval.until, onlyListed: only_listed === 'true' }
    const by = { writer: request.caller?.label ?? '', company_id: which.company_id, covers }
    const outcome = await change(async (roster, asOf) => {
      const body = await readRosterBody(bytes, request.headers['content-type'], zone)
      const asked = { ...interval, file: body.file, onlyListed: only_listed === 'true', now: Date.now() }
      const { lines, ...plan } = await planRoster(roster, asked)
      const { after, changing } = plan
      const keepMs = live.config.keep.delivered
      const redelivery = await planRedelivery(redis, { before: roster, after, devices: changing, keepMs })
      const answer = {
        ...(await putJson(plan, { body, roster, zone })),
        ...redeliverJson(redelivery),
        ...(dry_run === 'true' && { changes: await changesOf({ ...plan, before: roster }) }),
      }
      if (plan.loss && force !== 'true') return { status: 409, answer: { message: lossMessage(plan.loss), ...answer } }
      if (plan.rows.length === 0 && plan.rejected.length > 0) {
        if (dry_run !== 'true') await noteRefusedPut(redis, putResult(answer, by))
        throw refuseLines(plan.rejected, body)
      }
      if (dry_run === 'true') return { status: 200, answer }
      const { added, changed, removed, rejected } = plan
      const summary = { added, changed, removed, rejected: rejected.length, ...(force === 'true' && { force: true }) }
      const kept = await keptPut(putResult(answer, by), { ...interval, change: lines, roster })
      const offers = agreedOffers(redelivery, { asOf, redeliver, writer: by.writer })
      return { status: 200, answer, write: { assignments: lines, offers, put: kept }, summary, redelivery }
    })
    const { status, answer, version } = outcome
    await noteChange(request, redis, { ...outcome, redeliver })
    return reply.code(status).send({ ...answer, put: version === undefined ? undefined : String(version) })
  }

  return [
    {
      method: 'GET',
      path: '/admin/routes',
      id: 'listRoutes',
      summary:
        'List the assignments in effect; with `at`, those that hold at that time; with `from` and `until`, those in between',
      query: ListQuery,
      answer: pageSchema(RouteJson),
      companies: 'filtered',
      handle: list,
    },
    {
      method: 'PUT',
      path: '/admin/routes',
      id: 'putRoutes',
      summary: "Replace a company's assignments that begin in an interval by those of the body",
      query: PutQuery,
      body: PutLinesJson.meta({ description: BODY }),
      bodyTypes: ['text/csv', 'application/json', SHEET],
      answer: RosterPutJson,
      refusals: [404, 409, 415, 504],
      companies: 'filtered',
      handle: put,
    },
  ]
}

const ListQuery = PageQuery.extend({
  company_id: Id.optional(),
  device: z.string('expected one id or name of a device').optional(),
  ...each(z.string('expected one time').optional(), 'at', 'from', 'until'),
})
const PutQuery = closedQuery({
  company_id: onceText('the company whose lines these are').pipe(Id),
  from: onceText('lines that begin from this time on are replaced'),
  until: onceText('lines that begin before this time are replaced'),
  redeliver: Flag,
  dry_run: Flag,
  force: Flag,
  only_listed: Flag,
})

const BODY =
  'CSV in the form of routes.csv, a spreadsheet (.xlsx) with such a sheet, or a JSON array of objects with its columns.'
/** A line of a put: the columns of routes.csv, or an answer of `GET /admin/routes`. */
const PutLineJson = z.object({
  device: z.string(),
  route_id: Id,
  ...each(z.string().optional(), 'courier_id', 'from', 'until', 'date', 'from_at', 'until_at'),
})
/** The lines of a put, or what `GET /admin/routes` answers. */
const PutLinesJson = z.union([z.array(PutLineJson), z.object({ results: z.array(PutLineJson) })])

/** The message for a change that `lossOf` refuses: what would be lost, and how to narrow the change or force it. */
export function lossMessage(loss: Text): Text {
  return say(
    'this would take the route from {}: nothing is changed; if the others are to keep theirs, narrow it with only_listed=true or another from and until; send it with force=true only if it is meant',
    loss,
  )
}

interface ListedLine extends Omit<Assignment, 'company_id'> {
  readonly company_id: string
  readonly name?: string
}

function* allLines(roster: Roster): Generator<ListedLine> {
  for (const [, line] of roster.assignments())
    for (const { id, name, company_id, courier_id: own = '' } of roster.meant(line.device)) {
      const courier_id = line.courier_id || own
      if (courier_id !== '' && (line.company_id ?? company_id) === company_id)
        yield { ...line, device: id, courier_id, company_id, name }
    }
}

/** For each device the part of a line that is in effect at that time. */
function* linesAt(roster: Roster, at: number): Generator<ListedLine> {
  for (const entry of roster.devices()) {
    const stay = roster.stayAt(entry, at)
    if (!stay || stay === entry.usual) continue
    const { lane, ...when } = stay
    const ids = { company_id: lane.company, courier_id: lane.courier, route_id: lane.route }
    yield { ...when, ...ids, device: entry.id, name: entry.name }
  }
}

function placeOf({ device, from, courier_id, route_id, source, until }: ListedLine): ListPlace {
  return [from, `${device} ${until} ${courier_id} ${route_id} ${source}`]
}

function lineJson({ device, name, company_id, courier_id, route_id, from, until, source }: ListedLine): object {
  const [from_at, until_at] = [instant(from * 1000), instant(until * 1000)]
  return { device, name, company_id, courier_id, route_id, from_at, until_at, source }
}
