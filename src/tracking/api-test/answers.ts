import { inOneLine, type NotTheApi } from '../answer.ts'
import type { TrackingClient } from '../client.ts'
import type { Fault } from '../exchange.ts'
import { failed, type TestStep } from './step.ts'

/** What the API is asked for a company. Ids in exact decimal digits. */
export interface AskedCompany {
  readonly company_id: string
  readonly apikey: string | readonly string[]
  readonly oauth_token?: string
  /** One of its lanes, or one that the user names; undefined: none is known. */
  readonly lane?: { readonly courier: string; readonly route: string }
}

/** Where a company has no lane: ids that nobody has. */
export const NO_LANE = { courier: '0', route: '0' }

/** Where no answer of the API came. */
export function unanswered(
  step: TestStep['step'],
  client: TrackingClient,
  answer: { fault: Fault } | { notTheApi: NotTheApi },
): TestStep {
  if ('notTheApi' in answer) return failed(step, foreignText(answer.notTheApi), CORRECT_URL)
  const { fault } = answer
  if (fault === 'timeout') return failed(step, `the API does not answer within ${client.timeoutMs / 1000} s`, TELL)
  return failed(step, `there is no answer of the API that can be used (${fault})`, TELL)
}

function foreignText({ status, type, location, begins }: NotTheApi): string {
  const what = [status, type].filter(Boolean).join(' ')
  const to = location === undefined ? '' : `, redirects to: ${location}`
  return `what answers is not the tracking API: ${what}${to}${begins === undefined ? '' : `, begins with: ${begins}`}`
}

/** Where the API refuses what it was asked, for no reason that its status tells. */
export function refusedStep(step: TestStep['step'], status: number, said: string): TestStep {
  const isAway = status >= 500 || status === 408 || status === 425
  return failed(step, `the API answers ${said}`, isAway ? TELL : CORRECT_URL)
}

/** `404 there is no courier 42` */
export function saying(status: number, text: string): string {
  return `${status} ${inOneLine(text, MOST_SAID)}`.trim()
}

const MOST_SAID = 200
const TELL = 'tell who runs the tracking API, or try later'
const CORRECT_URL =
  'correct tracking.base_url (or push_url), or what is in between: a proxy, a firewall, a login page of the network'
export const CORRECT_LANE = 'correct the courier or the route, or the path in tracking.base_url (or push_url)'
export const NEW_TOKEN = 'set the oauth_token of the company in gateway.yaml (companies)'
