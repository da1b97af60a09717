import { joined, say, type Text } from '../../texts/text.ts'
import { inOneLine, type NotTheApi } from '../answer.ts'
import type { TrackingClient } from '../client.ts'
import type { Fault } from '../exchange.ts'
import { failed, type TestStep } from './step.ts'

/** The ids in the test requests for a company, in exact decimal digits. */
export interface AskedCompany {
  readonly company_id: string
  readonly apikey: string | readonly string[]
  readonly oauth_token?: string
  /** One of its lanes, or the one that the user names; undefined: none is known. */
  readonly lane?: { readonly courier: string; readonly route: string }
}

/** Ids that nobody has, for a company without a lane. */
export const NO_LANE = { courier: '0', route: '0' }

/** Where no answer of the API came. */
export function unanswered(
  step: TestStep['step'],
  client: TrackingClient,
  answer: { fault: Fault } | { notTheApi: NotTheApi },
): TestStep {
  if ('notTheApi' in answer) return failed(step, foreignText(answer.notTheApi), CORRECT_URL)
  const { fault } = answer
  if (fault === 'timeout')
    return failed(step, say('the API does not answer within {} s', client.timeoutMs / 1000), TELL)
  return failed(step, say('there is no answer of the API that can be used ({})', fault), TELL)
}

function foreignText({ status, type, location, begins }: NotTheApi): Text {
  const what = [status, type].filter(Boolean).join(' ')
  const to = location === undefined ? [] : [say('redirects to: {}', location)]
  const beginning = begins === undefined ? [] : [say('begins with: {}', begins)]
  return say('what answers is not the tracking API: {}', joined([what, ...to, ...beginning], ', '))
}

/** Returns the step for a refusal whose status does not tell the reason. */
export function refusedStep(step: TestStep['step'], status: number, said: Text): TestStep {
  const isAway = status >= 500 || status === 408 || status === 425
  return failed(step, say('the API answers {}', said), isAway ? TELL : CORRECT_URL)
}

/** `404 there is no courier 42` */
export function saying(status: number, text: Text): Text {
  if (typeof text !== 'string') return joined([String(status), text], ' ')
  return `${status} ${inOneLine(text, MOST_SAID)}`.trim()
}

const MOST_SAID = 200
const TELL = say('tell who runs the tracking API, or try later')
const CORRECT_URL = say(
  'correct tracking.base_url (or push_url), or what is in between: a proxy, a firewall, a login page of the network',
)
export const CORRECT_LANE = say('correct the courier or the route, or the path in tracking.base_url (or push_url)')
export const NEW_TOKEN = say('set the oauth_token of the company in gateway.yaml (companies)')
