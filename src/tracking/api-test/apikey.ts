import { say, type Text } from '../../texts/text.ts'
import type { ApiAnswer } from '../answer.ts'
import type { TrackingClient } from '../client.ts'
import { isSuccess } from '../exchange.ts'
import { type AskedCompany, CORRECT_LANE, NO_LANE, refusedStep, saying, unanswered } from './answers.ts'
import { failed, ok, type TestStep, warning } from './step.ts'

/**
 * Tests each apikey with an empty push, which the API can refuse only because of the key, the courier or the route. Resolves
 * to the first accepted key.
 */
export async function testKeys(
  client: TrackingClient,
  company: AskedCompany,
): Promise<{ steps: TestStep[]; apikey?: string }> {
  const keys = [company.apikey].flat()
  const { courier, route } = company.lane ?? NO_LANE
  const tested: { readonly apikey: string; readonly step: TestStep }[] = []
  for (const [index, apikey] of keys.entries()) {
    const answer = await client.push({ courier, route, apikey, body: '{"positions":[]}' })
    const name = keys.length === 1 ? say('the apikey') : say('apikey {} of {}', index + 1, keys.length)
    tested.push({ apikey, step: keyStep(answer, { client, company, name }) })
  }
  const accepted = tested.find(({ step }) => step.state === 'ok' || step.state === 'warning')
  // Where one is refused the next is tried.
  const steps = tested.map(({ step }) =>
    accepted && step.state === 'failed' ? { ...step, state: 'warning' as const } : step,
  )
  return { steps, apikey: accepted?.apikey }
}

interface TestedKey {
  readonly client: TrackingClient
  readonly company: AskedCompany
  readonly name: Text
}

function keyStep(answer: ApiAnswer, { client, company: { company_id, lane }, name }: TestedKey): TestStep {
  if (!('status' in answer)) return unanswered('apikey', client, answer)
  const { status, text } = answer
  const said = saying(status, text)
  if (isSuccess(status) || status === 422) return ok('apikey', say('{} is accepted ({})', name, status))
  if (status === 401 || status === 403) {
    const action = say(
      'set the apikey of company {} in gateway.yaml (companies), and see that the courier is one of the company',
      company_id,
    )
    return failed('apikey', say('{} is refused: {}', name, said), action)
  }
  if (status === 429) return warning('apikey', say('the API limits our requests: {}', said), LIMIT)
  if (status !== 404 || text.trimStart().startsWith('<')) return refusedStep('apikey', status, said)
  if (lane)
    return failed(
      'apikey',
      say('the API does not know courier {} on route {}: {}', lane.courier, lane.route, said),
      CORRECT_LANE,
    )
  return warning('apikey', say('no courier is known to test {} with: {}', name, said), NAME_LANE)
}

const LIMIT = say('ask for a higher limit, or set push.max_requests_per_s')
const NAME_LANE = say('name a courier and a route that the API knows, to test the key with them')
