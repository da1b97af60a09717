import { ApiRefusal, parse } from '../../http/refusal.ts'
import { sharedRoutes } from '../../roster/advice.ts'
import {
  countLines,
  devicesBefore,
  lastResults,
  latestPut,
  linesBefore,
  noteUndone,
  type Replaced,
  type RosterResult,
  readReplaced,
  readResults,
} from '../../roster/puts.ts'
import { planRedelivery } from '../../roster/redelivery.ts'
import type { Roster } from '../../roster/roster.ts'
import type { Redis } from '../../store/index.ts'
import type { WithTexts } from '../../texts/language.ts'
import { say } from '../../texts/text.ts'
import type { EventSource } from '../events/feed.ts'
import { instant } from '../json.ts'
import type { Operation } from '../operation.ts'
import { closedQuery, Flag, onceText } from '../schemas/parts.ts'
import { RosterPutJson, RosterResultsJson } from '../schemas/roster.ts'
import type { Scope } from '../scope.ts'
import { changesOf, entryChange, idsInOrder, MOST_CHANGES, takenJson } from './answer.ts'
import { effectOnDevices } from './plan.ts'
import { agreedOffers, noteChange, redeliverJson } from './redelivery.ts'
import { lossMessage } from './routes.ts'
import type { RosterSources, RosterWrites } from './writes.ts'

/** `GET /admin/roster`: what became of the last version of each file and pull, and of the last put of each token, latest first. */
export function rosterResultOperations({ redis }: { readonly redis: Redis }): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/roster',
      id: 'listRosterResults',
      summary: 'List the last result of each writer of the roster: files, pulls, and tokens by company',
      answer: RosterResultsJson,
      companies: 'filtered',
      handle: async (_request, _reply, scope) => ({
        results: seenResults(lastResults(await readResults(redis)), scope).map(resultJson),
      }),
    },
  ]
}

/** The results of puts for companies that the scope includes. Files belong to no company. */
function seenResults(results: readonly RosterResult[], scope: Scope): RosterResult[] {
  return results.filter(({ company_id }) => scope.sees(company_id))
}

/** Events of results that are added or undone, whichever process writes the roster. */
export function rosterSource(redis: Redis): EventSource {
  let known: ReadonlySet<string> | undefined
  return {
    topic: 'roster',
    async look() {
      const results = await readResults(redis)
      const before = known
      known = new Set(results.map(nameOf))
      const added = before ? results.filter((result) => !before.has(nameOf(result))) : []
      return added.toReversed().map((result) => ({
        dataFor: (scope) => (scope.sees(result.company_id) ? resultJson(result) : undefined),
      }))
    },
  }
}

function nameOf({ kind, writer, company_id, put, at, undone, failing }: RosterResult): string {
  return JSON.stringify([kind, writer, company_id, put, at, undone, failing?.since])
}

/** A result as the admin port shows it. */
function resultJson({
  at,
  writer,
  kind,
  covers: _covers,
  stale: _stale,
  refused: _refused,
  pulled_at,
  failing,
  ...result
}: RosterResult): WithTexts<RosterResultsJson['results'][number]> {
  const by = kind === 'put' ? writer : undefined
  const [rejected, warnings] = [result.rejected, result.warnings].map((remarks) => [...remarks])
  return {
    ...result,
    writer,
    kind,
    at: instant(at) ?? '',
    by,
    rejected,
    warnings,
    pulled_at: instant(pulled_at),
    failing: failing && { since_at: instant(failing.since) ?? '', reason: failing.reason },
  }
}

/**
 * `POST /admin/roster/undo?put=ID` takes back a put or an assignment: the lines and entries that it
 * replaced are restored. Only a
 * company's latest put that was not taken back yet can be taken back.
 */
export function undoOperation({ live, redis }: RosterSources, change: RosterWrites): Operation {
  return {
    method: 'POST',
    path: '/admin/roster/undo',
    id: 'undoPut',
    summary: "Take a company's latest put back: the lines and entries that it replaced are again as they were",
    query: UndoQuery,
    answer: RosterPutJson,
    refusals: [404, 409, 504],
    companies: 'filtered',
    async handle(request, reply, scope) {
      const { put: id, dry_run, force, redeliver } = parse(UndoQuery, request.query)
      const outcome = await change(async (roster, asOf) => {
        const { put, replaced } = await findPut(redis, id, scope)
        request.company = put.company_id
        const plan = await planUndo(roster, put, replaced)
        const { after, changing, loss, write } = plan
        const keepMs = live.config.keep.delivered
        const redelivery = await planRedelivery(redis, { before: roster, after, devices: changing, keepMs })
        const answer = {
          ...plan.answer,
          ...redeliverJson(redelivery),
          ...(dry_run === 'true' && (await plan.changes())),
        }
        if (loss && force !== 'true') return { status: 409, answer: { message: lossMessage(loss), ...answer } }
        if (dry_run === 'true') return { status: 200, answer }
        const { added, changed, removed } = answer
        const offers = agreedOffers(redelivery, { asOf, redeliver, writer: put.writer })
        return {
          status: 200,
          answer,
          write: { ...write, offers },
          put,
          summary: { added, changed, removed },
          redelivery,
        }
      })
      if (outcome.put) await noteUndone(redis, outcome.put)
      await noteChange(request, redis, { ...outcome, redeliver })
      return reply.code(outcome.status).send(outcome.answer)
    },
  }
}

const UndoQuery = closedQuery({
  put: onceText('the id of the put to take back'),
  dry_run: Flag,
  force: Flag,
  redeliver: Flag,
})

/** @throws ApiRefusal 404 if the put is not kept, 409 if another put must be undone first */
async function findPut(redis: RosterSources['redis'], id: string, scope: Scope) {
  const results = seenResults(await readResults(redis), scope)
  const put = results.find((result) => result.put === id)
  const replaced = put && (await readReplaced(redis, put.company_id ?? '', id))
  if (!put || !replaced) throw new ApiRefusal(404, `no put ${id} is kept: ${KEPT}`)
  if (put.undone) throw new ApiRefusal(409, say('this put was taken back before'))
  const latest = latestPut(results, put.company_id ?? '')
  if (latest?.put !== id)
    throw new ApiRefusal(
      409,
      say(
        'company {} has a later put, {} by {}: take that back first',
        put.company_id ?? '',
        latest?.put ?? '',
        latest?.writer ?? '',
      ),
    )
  return { put, replaced }
}

async function planUndo(roster: Roster, { put = '', company_id = '' }: RosterResult, replaced: Replaced) {
  const assignments = linesBefore(replaced, put, roster)
  const entries = devicesBefore(replaced, put, roster)
  const write = { devices: entries, assignments }
  const asked = { ...replaced, company_id, now: Date.now() }
  const { after, changing, devices, loss, takes, withoutRoute } = await effectOnDevices(write, roster, asked)
  // A line that the put wrote unchanged does not count as changed.
  const written = assignments.flatMap(([field, line]) => (line && !roster.assignment(field) ? [field] : []))
  const dropped = assignments.flatMap(([field, line]) => (!line && roster.assignment(field) ? [field] : []))
  const routes = new Set(written.flatMap((field) => after.assignment(field)?.route_id ?? []))
  const shared = await Array.fromAsync(sharedRoutes(devices, routes))
  const warnings = shared.map(({ message }) => ({ line: 0, message }))
  const lines = countLines(dropped, written)
  const dropsOf = entries.filter(([, before]) => !before).length
  return {
    write,
    after,
    changing,
    changes: async () =>
      replaced.devices
        ? { entries: entries.slice(0, MOST_CHANGES).map(([id, before]) => entryChange(roster.find(id), before)) }
        : { changes: await changesOf({ changing, before: roster, after }) },
    loss,
    answer: {
      added: lines.added,
      changed: lines.changed + entries.length - dropsOf,
      removed: lines.removed + dropsOf,
      rejected: [],
      ...(warnings.length > 0 && { warnings }),
      ...(takes.length > 0 && { takes: takes.map(takenJson) }),
      without_route: idsInOrder(withoutRoute),
      devices: devices.length,
    },
  }
}

const KEPT = 'the last 20 puts of each company are, for 31 days'
