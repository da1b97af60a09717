import type { ListedDevice, RosterAnswer } from './answers.ts'
import type { Clock } from './clock.ts'
import { isSilent } from './silence.ts'
import { listText, MAX_NAMES } from './words.ts'

/** What else there is to know for the sentence. */
export interface RosterContext {
  readonly devices: readonly ListedDevice[]
  readonly company: string
  /** Nothing has changed: this is what would be. */
  readonly would: boolean
  /** Which time the answer is about. */
  readonly moment: 'now' | 'then'
  /** Whether those who are silent are named. */
  readonly withSilent: boolean
  readonly clock: Clock
  /** ms UTC. */
  readonly now: number
}

/** `38 of 40 devices have a route now; Van 12 has none; Van 31 is silent since 18:42` */
export function rosterSentence(answer: RosterAnswer, context: RosterContext): string {
  const { devices, company, would, moment, withSilent, clock, now } = context
  const { without_route, devices: all } = answer
  const without = new Set(without_route)
  const ours = devices.filter(({ configured, company_id }) => configured && company_id === company)
  const named = new Map(ours.map((device) => [device.id, nameOf(device)]))
  const isMute = (device: ListedDevice) => device.state === 'never' || isSilent(device, now)
  const silent = ours.filter((device) => withSilent && !without.has(device.id) && isMute(device))
  const verb = would ? 'would have' : all - without.size === 1 ? 'has' : 'have'
  return [
    `${all - without.size} of ${all} devices ${verb} a route ${moment}`,
    ...noneClause(without_route.map((id) => named.get(id) ?? id)),
    ...atMostTen(silent.map((device) => silence(device, clock))),
  ].join('; ')
}

function nameOf({ id, name }: ListedDevice): string {
  return name ?? id
}

function noneClause(names: readonly string[]): string[] {
  if (names.length === 0) return []
  return [`${listText(names)} ${names.length === 1 ? 'has' : 'have'} none`]
}

function silence(device: ListedDevice, clock: Clock): string {
  const { last_heard } = device
  return last_heard ? `${nameOf(device)} is silent since ${clock(last_heard.at)}` : `${nameOf(device)} was never heard`
}

function atMostTen(clauses: readonly string[]): string[] {
  const rest = clauses.length - MAX_NAMES
  return rest > 0 ? [...clauses.slice(0, MAX_NAMES), `and ${rest} more are silent`] : [...clauses]
}
