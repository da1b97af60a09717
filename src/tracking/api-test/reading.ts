import * as z from 'zod'
import { say, type Text } from '../../texts/text.ts'
import { type ApiAnswer, answerOf, isForeign } from '../answer.ts'
import { isDense, MAX_POSITIONS_BYTES, parseBody } from '../body.ts'
import type { TrackingClient } from '../client.ts'
import { bodyOf } from '../exchange.ts'
import { type CourierPosition, CourierPositions } from '../schemas.ts'
import { type AskedCompany, NEW_TOKEN, NO_LANE, refusedStep, saying, unanswered } from './answers.ts'
import { failed, ok, skipped, type TestStep } from './step.ts'

/** Tests the OAuth token by reading the positions of a route in the last two hours. Returns these, the latest last. */
export async function testReading(
  client: TrackingClient,
  company: AskedCompany,
): Promise<{ steps: TestStep[]; positions: readonly CourierPosition[] }> {
  const { company_id, lane } = company
  const now = Math.floor(Date.now() / 1000)
  const answer = await readPositions(client, company, { from: now - TWO_HOURS_S, to: now })
  const none = { positions: [] }
  if (!answer) {
    const seen = say(
      'company {} has no oauth_token: nothing is read back, orders and numbers are not relayed',
      company_id,
    )
    const unread = skipped('read', say('there is no oauth_token to read with'))
    return { ...none, steps: [skipped('oauth_token', seen), unread] }
  }
  if ('positions' in answer) {
    const { positions } = answer
    const of = lane ? say('route {}', lane.route) : say('a route that nobody has')
    const seen = say('{} positions of {} in the last two hours', positions.length, of)
    return { positions, steps: [ok('oauth_token', say('the OAuth token is accepted')), ok('read', seen)] }
  }
  if ('status' in answer && (answer.status === 401 || answer.status === 403)) {
    const said = saying(answer.status, answer.text)
    const seen = say('the API refuses the OAuth token of company {}: {}', company_id, said)
    return { ...none, steps: [failed('oauth_token', seen, NEW_TOKEN), skipped('read')] }
  }
  const untested = skipped('oauth_token', say('not known, since reading failed'))
  const step =
    'status' in answer
      ? refusedStep('read', answer.status, saying(answer.status, answer.text))
      : unanswered('read', client, answer)
  return { ...none, steps: [untested, step] }
}

type ReadAnswer =
  | ApiAnswer
  | { readonly status: number; readonly text: Text }
  | { readonly positions: readonly CourierPosition[] }

/** Reads the positions of the company's route, both ends in unix seconds; undefined without a token. */
export async function readPositions(
  client: TrackingClient,
  { company_id, oauth_token, lane = NO_LANE }: AskedCompany,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ReadAnswer | undefined> {
  if (oauth_token === undefined) return undefined
  const reply = await client.request({
    operation: 'courierPositions',
    params: { company_id, route_id: lane.route },
    query: { from: String(from), to: String(to) },
    oauthToken: oauth_token,
    maxBytes: MAX_POSITIONS_BYTES,
  })
  if ('fault' in reply) return { fault: reply.fault }
  const answer = answerOf(reply, oauth_token)
  if (reply.status !== 200 || isForeign(reply)) return answer
  const body = bodyOf(reply)
  const positions = isDense(body) ? undefined : positionsIn(body)
  return positions ? { positions } : { status: 200, text: say('no list of positions') }
}

function positionsIn(body: Buffer): readonly CourierPosition[] | undefined {
  try {
    return z.parse(CourierPositions, parseBody(body, 'application/json'))
  } catch {
    return undefined
  }
}

const TWO_HOURS_S = 7200
