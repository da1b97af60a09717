import * as z from 'zod'
import { sharedRoutes } from '../../roster/advice.ts'
import {
  countLines,
  latestPut,
  linesBefore,
  noteUndone,
  readReplaced,
  readResults,
  type Replaced,
  type RosterResult,
} from '../../roster/puts.ts'
import type { Roster } from '../../roster/roster.ts'
import { ApiRefusal, parse } from '../../tracking/refusal.ts'
import { RosterPutJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { idsInOrder, takenJson } from './answer.ts'
import { changesOf } from './changes.ts'
import { effectOf } from './plan.ts'
import { Flag, lossMessage, onceText, type RosterSources } from './routes.ts'
import type { RosterWrites } from './writes.ts'
import type { Scope } from '../scope.ts'
import { seenResults } from './results.ts'

/**
 * `POST /admin/roster/undo?put=ID` takes back a put or an assignment: the lines that it replaced are restored. Only a
 * company's latest put that was not taken back yet can be taken back.
 */
export function undoOperation({ redis }: Pick<RosterSources, 'redis'>, change: RosterWrites): Operation {
  return {
    method: 'POST',
    path: '/admin/roster/undo',
    id: 'undoPut',
    summary: "Take a company's latest put back: the lines that it replaced are again as they were",
    query: UndoQuery,
    answer: RosterPutJson,
    refusals: [404, 409, 504],
    isDryRun: ({ query }) => (query as { dry_run?: unknown }).dry_run === 'true',
    companies: 'filtered',
    async handle(request, reply, scope) {
      const { put: id, dry_run, force } = parse(UndoQuery, request.query)
      const outcome = await change(async (roster) => {
        const { put, replaced } = await findPut(redis, id, scope)
        request.company = put.company_id
        const plan = await planUndo(roster, put, replaced)
        const { loss, write } = plan
        const answer = { ...plan.answer, ...(dry_run === 'true' && { changes: await plan.changes() }) }
        if (loss && force !== 'true') return { status: 409, answer: { message: lossMessage(loss), ...answer } }
        if (dry_run === 'true') return { status: 200, answer }
        const { added, changed, removed } = answer
        return { status: 200, answer, write, put, summary: { added, changed, removed } }
      })
      if (outcome.put) await noteUndone(redis, outcome.put)
      request.audit = outcome.summary
      return reply.code(outcome.status).send(outcome.answer)
    },
  }
}

const UndoQuery = z.object({ put: onceText('the id of the put to take back'), dry_run: Flag, force: Flag })

/** @throws ApiRefusal 404 for a put that is not kept, 409 where another one is to be taken back before it */
async function findPut(redis: RosterSources['redis'], id: string, scope: Scope) {
  const results = seenResults(await readResults(redis), scope)
  const put = results.find((result) => result.put === id)
  const replaced = put && (await readReplaced(redis, put.company_id ?? '', id))
  if (!put || !replaced) throw new ApiRefusal(404, `no put ${id} is kept: ${KEPT}`)
  if (put.undone) throw new ApiRefusal(409, 'this put was taken back before')
  const latest = latestPut(results, put.company_id ?? '')
  if (latest?.put !== id)
    throw new ApiRefusal(
      409,
      `company ${put.company_id} has a later put, ${latest?.put} by ${latest?.writer}: take that back first`,
    )
  return { put, replaced }
}

async function planUndo(roster: Roster, { put = '', company_id = '' }: RosterResult, replaced: Replaced) {
  const assignments = linesBefore(replaced, put, roster)
  const asked = { ...replaced, company_id, now: Date.now() }
  const { after, changing, devices, loss, takes, withoutRoute } = await effectOf({ assignments }, roster, asked)
  // A line that the put has written again as it was does not change.
  const written = assignments.flatMap(([field, text]) => (text !== null && !roster.assignment(field) ? [field] : []))
  const dropped = assignments.flatMap(([field, text]) => (text === null && roster.assignment(field) ? [field] : []))
  const routes = new Set(written.flatMap((field) => after.assignment(field)?.route_id ?? []))
  const shared = await Array.fromAsync(sharedRoutes(devices, routes))
  const warnings = shared.map(({ message }) => ({ line: 0, message }))
  return {
    write: { assignments },
    changes: () => changesOf({ changing, before: roster, after }),
    loss,
    answer: {
      ...countLines(dropped, written),
      rejected: [],
      ...(warnings.length > 0 && { warnings }),
      ...(takes.length > 0 && { takes: takes.map(takenJson) }),
      without_route: idsInOrder(withoutRoute),
      devices: devices.length,
    },
  }
}

const KEPT = 'the last 20 puts of each company are, for 31 days'
