import * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import type { RouteRow } from '../../config/routes.ts'
import { type Interval, timesIn } from '../../config/times.ts'
import { overlaps } from '../../roster/advice.ts'
import type { Assignment } from '../../roster/directory.ts'
import type { Roster } from '../../roster/roster.ts'
import { readBody } from '../../tracking/body.ts'
import { ApiRefusal, parse, refuseFields } from '../../tracking/refusal.ts'
import { Id } from '../../tracking/schemas.ts'
import { instant, pageSchema, RosterPutJson, StayJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { placeOfDevice } from '../device/list.ts'
import { compare, type ListPlace, PageQuery, pageOf } from '../paging.ts'
import { readRosterBody, refuseLines, type RosterBody, said } from './body.ts'
import { planRoster, type RosterPlan } from './plan.ts'
import type { RosterInEffect, RosterWrites } from './writes.ts'

/**
 * `GET /admin/routes`: the lines in effect, of files and of this port; with `at`, those that decide then.
 * `PUT /admin/routes`: puts lines in place of a company's that begin in an interval.
 */
export function routeOperations(live: RosterInEffect, change: RosterWrites): Operation[] {
  const list: Operation['handle'] = async ({ query }) => {
    const { company_id, at, ...page } = parse(ListQuery, query)
    const roster = live.directory()
    const lines = at === undefined ? allLines(roster) : linesAt(roster, instantIn(live, 'at', at))
    const isListed = (line: ListedLine) => (company_id ?? line.company_id) === line.company_id
    const { results, ...rest } = await pageOf(lines, { list: 'routes', placeOf, isListed }, page)
    return { results: results.map(lineJson), ...rest }
  }

  const put: Operation['handle'] = async (request, reply) => {
    const { dry_run, force, ...which } = parse(PutQuery, request.query)
    const bytes = await readBody(request.raw)
    const outcome = await change(async (roster) => {
      const interval = intervalOf(live, which)
      const body = await readRosterBody(bytes, request.headers['content-type'], live.config.time_zone)
      const { write, ...plan } = await planRoster(roster, { ...interval, file: body.file, now: Date.now() })
      const answer = await planJson(plan, body, roster)
      if (plan.loss && force !== 'true') {
        const message = `this would take the route from ${plan.loss}: nothing is changed; send it with force=true if it is meant`
        return { status: 409, answer: { message, ...answer } }
      }
      if (plan.rows.length === 0 && plan.rejected.length > 0) throw refuseLines(plan.rejected, body)
      if (dry_run === 'true') return { status: 200, answer }
      const { added, changed, removed, rejected } = plan
      const summary = { added, changed, removed, rejected: rejected.length, ...(force === 'true' && { force: true }) }
      return { status: 200, answer, write, summary }
    })
    request.audit = outcome.summary
    return reply.code(outcome.status).send(outcome.answer)
  }

  return [
    {
      method: 'GET',
      path: '/admin/routes',
      id: 'listRoutes',
      summary: 'List the assignments in effect; with `at`, those that hold at that time',
      query: ListQuery,
      answer: pageSchema(StayJson.extend({ device: z.string(), name: z.string().optional() })),
      handle: list,
    },
    {
      method: 'PUT',
      path: '/admin/routes',
      id: 'putRoutes',
      summary: "Replace a company's assignments that begin in an interval by those of the body",
      query: PutQuery,
      body: z.unknown().meta({ description: BODY }),
      bodyTypes: ['text/csv', 'application/json'],
      answer: RosterPutJson,
      refusals: [404, 409, 415, 504],
      isDryRun: ({ query }) => (query as { dry_run?: unknown }).dry_run === 'true',
      handle: put,
    },
  ]
}

const Flag = z.enum(['true', 'false'], 'expected true or false').optional()
const ListQuery = PageQuery.extend({ company_id: Id.optional(), at: z.string('expected one time').optional() })
const PutQuery = z
  .object({
    company_id: onceText('the company whose lines these are').pipe(Id),
    from: onceText('lines that begin from this time on are replaced'),
    until: onceText('lines that begin before this time are replaced'),
    dry_run: Flag,
    force: Flag,
  })
  // A `dry-run` would be no dry run.
  .catchall(z.unknown().refine(() => false, 'unknown: expected company_id, from, until, dry_run and force alone'))

const BODY = 'CSV in the form of routes.csv, or a JSON array of objects with its columns.'

/** A parameter that is needed, once. */
function onceText(meaning: string) {
  return z.string({ error: ({ input }) => `${input === undefined ? 'missing' : 'needed once'}: ${meaning}` })
}

/** @throws ApiRefusal 404 for an unknown company, 422 for what is no interval. */
function intervalOf(
  live: RosterInEffect,
  { company_id, ...bounds }: Pick<z.infer<typeof PutQuery>, 'company_id' | 'from' | 'until'>,
): Interval & { readonly company_id: string } {
  if (!live.companies().some((company) => company.company_id === company_id))
    throw new ApiRefusal(404, `there is no company ${company_id} in gateway.yaml`)
  const from = instantIn(live, 'from', bounds.from)
  const until = instantIn(live, 'until', bounds.until)
  if (until <= from) throw refuseFields(422, [{ path: 'until', message: 'not after from' }])
  return { company_id, from, until }
}

/** Unix seconds of a time; of a day its beginning. */
function instantIn({ config }: RosterInEffect, path: string, text: string): number {
  const times = timesIn(config.time_zone)
  // What a `+` in a query stands for.
  const seconds = times.instant(text.replace(/ (?=\d\d:?\d\d$)/, '+')) ?? times.instant(text) ?? times.day(text)?.from
  if (seconds === undefined) throw refuseFields(422, [{ path, message: TIME_EXPECTED }])
  return seconds
}

interface ListedLine extends Omit<Assignment, 'company_id'> {
  readonly company_id: string
  readonly name?: string
}

function* allLines(roster: Roster): Generator<ListedLine> {
  for (const entry of roster.devices())
    for (const line of roster.assignmentsOf(entry)) yield { ...line, company_id: entry.company_id, name: entry.name }
}

/** Of each device the part of a line that holds then. */
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

/** What a put answers; `warnings` only where there are some. */
async function planJson(plan: Omit<RosterPlan, 'write'>, { lineAt }: RosterBody, roster: Roster) {
  const { added, changed, removed, rejected, withoutRoute, devices } = plan
  const warnings = await overlapsIn(plan.rows, roster)
  return {
    added,
    changed,
    removed,
    rejected: rejected.map((mistake) => ({ line: lineAt(mistake.at), message: said(mistake) })),
    ...(warnings.length > 0 && { warnings }),
    without_route: withoutRoute.toSorted((a, b) => compare(placeOfDevice(a), placeOfDevice(b))).map(({ id }) => id),
    devices: devices.length,
  }
}

async function overlapsIn(rows: readonly RouteRow[], roster: Roster) {
  const lines = rows.flatMap((row) =>
    roster.meant(row.device).map(({ id }) => ({ ...row, device: id, source: `line ${row.line}` })),
  )
  const warnings: { line: number; message: string }[] = []
  for (const ofDevice of Map.groupBy(lines, ({ device }) => device).values()) {
    await yieldToEventLoop()
    for (const { line, message } of overlaps(ofDevice))
      warnings.push({ line: Number(line.source.replace('line ', '')), message: `from: ${message}` })
  }
  return warnings
}

const TIME_EXPECTED = 'expected a time such as 2026-11-20T06:00:00Z, local such as 2026-11-20 06:00, or a day'
