import { say, type Text } from '../texts/text.ts'
import { ALARM_FINDINGS, CODES, deviceMeaning, type Link, SENT_IN_VAIN, type Severity } from './codes.ts'
import { conditionOf, deviceTroubles } from './devices.ts'
import type { DeviceFacts } from './device-facts.ts'
import type { Finding } from './facts.ts'
import { isNewEntry } from './links.ts'
import { plainly, wordsAbout } from './plain.ts'
import type { LaneRefusal } from './refusals.ts'

/**
 * The trouble of a van in the words of a dispatcher, without its name. `never`: no message of it was accepted yet;
 * `unproven`: it lacks the proof that its entry demands.
 */
export interface VanProblem {
  readonly code: Finding['code'] | 'never' | 'unproven'
  readonly severity: Severity
  readonly link: Link
  /** ms UTC. */
  readonly sinceAt?: number
  readonly message: Text
  readonly action: Text
}

export interface VanProblemFacts {
  readonly device: DeviceFacts
  /** The place of its entry, as stored. */
  readonly source?: string
  /** The findings about the device, and about the lane that it has now, that hold. */
  readonly noted: readonly Finding[]
  /** Why the tracking API refuses the lane that the device has now. */
  readonly refusal?: LaneRefusal
  /** Fixes are held that lack what its entry asks for. */
  readonly isUnproven?: boolean
  /** ms UTC. */
  readonly now: number
}

/**
 * Pure. Returns the worst trouble of a van by itself; undefined if none is known. After an SOS come errors, then what holds
 * back its positions, then other alarms of its tracker; of equal ones, the one that has lasted longest. Troubles of all vans
 * do not count.
 */
export function vanProblem(facts: VanProblemFacts): VanProblem | undefined {
  const problems = [...noted(facts), ...own(facts), ...refusals(facts), ...unproven(facts), ...notHeard(facts)]
  const [worst] = problems.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || (one.sinceAt ?? facts.now) - (other.sinceAt ?? facts.now),
  )
  return worst
}

function refusals({ refusal, device: { route } }: VanProblemFacts): VanProblem[] {
  if (!refusal || !route) return []
  const { action, code, company, isMissing, since } = refusal
  const message =
    code === 'lane_refused'
      ? say('the tracking service refuses courier {} on route {}', route.courier, route.route)
      : isMissing
        ? say('company {} has no password for the tracking service', company)
        : say('the tracking service refuses the password of company {}', company)
  return [{ code, severity: 'error', link: 'accepted', sinceAt: since, message, action: plainly(action) }]
}

function noted({ noted: findings }: VanProblemFacts): VanProblem[] {
  return findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ code, severity, link, sinceAt, message, action }) => {
      const words = typeof message === 'string' ? undefined : wordsAbout(message.says)
      return { code, severity, link, sinceAt, message: words ? say(words) : plainly(message), action: plainly(action) }
    })
}

function own({ device, noted: findings, now }: VanProblemFacts): VanProblem[] {
  const isSending = findings.some(({ code }) => SENT_IN_VAIN.has(code))
  return deviceTroubles(device, now, isSending).flatMap(({ code, sinceAt, action }): VanProblem[] => {
    const { link, message, severity, action: usual } = deviceMeaning(code)
    const words = wordsAbout(message)
    if (!words) return []
    return [{ code, severity, link, sinceAt, message: say(words), action: plainly(action ?? say(usual)) }]
  })
}

function unproven({ device, isUnproven, now }: VanProblemFacts): VanProblem[] {
  const condition = conditionOf(device, now)
  if (!isUnproven || (condition !== 'never' && condition !== 'silent')) return []
  const message = say('positions are held back: they lack what the entry asks for, such as a password')
  const action = plainly(say(CODES.wrong_secret.action))
  return [{ code: 'unproven', severity: 'warning', link: 'identified', message, action }]
}

/**
 * Returns the trouble of a van with a route whose messages were never accepted. A van that was just added may not have been
 * pointed to this server yet.
 */
function notHeard({ device, source, now }: VanProblemFacts): VanProblem[] {
  const isNever = conditionOf(device, now) === 'never' && !device.isHeldUnknown
  if (!isNever || !device.route || isNewEntry(device, source, now)) return []
  const message = say('nothing of its tracker was accepted so far')
  const action = say('check that its tracker has power and a SIM card, and is set to send to this server')
  return [{ code: 'never', severity: 'warning', link: 'connected', message, action }]
}

function rankOf({ code, severity }: VanProblem): number {
  if (code === 'never') return 3
  if (code === 'unproven') return 2
  if (severity === 'error') return code === 'sos' ? 0 : 1
  return ALARM_FINDINGS.has(code) ? 4 : 2
}
