import { distinct, joined, say, type Text } from '../texts/text.ts'
import {
  ALWAYS_NAMED,
  BREAKS_NO_LINK,
  CODES,
  deviceMeaning,
  type FindingCode,
  LINKS,
  type Link,
  SAID_BY_EACH,
  SENT_IN_VAIN,
} from './codes.ts'
import type { DeviceGroup } from './device-facts.ts'
import type { Facts, Finding, Found } from './facts.ts'
import { devicesText } from './incidents.ts'
import { missingTroubles } from './missing.ts'
import { type Flow, inOrder } from './order.ts'
import { refusalTroubles } from './refusals.ts'
import { redisTroubles, systemTroubles } from './system.ts'
import { trafficTroubles } from './traffic.ts'
import { upstreamTroubles } from './upstream.ts'

/** Pure. Returns the findings of these facts, errors first. Equal findings about one subject are merged. */
export function diagnose(facts: Facts): Finding[] {
  // Without Redis or its replicas nothing else is known, and every other trouble follows from that.
  const { downSince, missing = [] } = facts.redis ?? {}
  const found = downSince === undefined && missing.length === 0 ? allTroubles(facts) : redisTroubles(facts)
  const findings = merged(found, facts.now).map((each) => {
    return findingOf(each, facts.now, facts.nameOf?.(each.subject?.device ?? ''))
  })
  return inOrder(findings)
}

/** Returns whether Redis or its replicas are away: it is unknown then what else holds. */
export function isBlind(findings: readonly Pick<Finding, 'code'>[]): boolean {
  return findings.some(({ code }) => code === 'redis_down' || code === 'replicas_missing')
}

function allTroubles(facts: Facts): Found[] {
  const found = [
    ...observedTroubles(facts),
    ...systemTroubles(facts),
    ...upstreamTroubles(facts),
    ...refusalTroubles(facts),
    ...missingTroubles(facts),
    ...trafficTroubles(facts),
    ...groupTroubles(facts),
  ]
  const hasCause = found.some((each) => explainsBacklog(each, facts.now))
  const sending = new Set(found.flatMap(({ code, subject }) => (SENT_IN_VAIN.has(code) ? (subject?.device ?? []) : [])))
  return found.filter(({ code, sinceAt = facts.now, subject }) => {
    if (OF_CLOCKS.has(code) && isOfOwnClock(sinceAt, found)) return false
    return !(code === 'backlog' && hasCause) && !(code === 'silent' && sending.has(subject?.device ?? ''))
  })
}

/** Whether the clock of a gateway may explain that times of devices seem wrong since a time, ms UTC. */
export function isOfOwnClock(sinceAt: number, findings: readonly Pick<Found, 'code' | 'sinceAt'>[]): boolean {
  return findings.some(({ code, sinceAt: doubtAt = 0 }) => code === 'own_clock' && sinceAt >= doubtAt - NOTED_MS)
}

function observedTroubles({ apis, observations }: Facts): Found[] {
  const repeated = observations.filter(({ code, count }) => !NORMAL_ONCE.has(code) || count >= REPEATED)
  return repeated.map(({ code, count, evidence, sinceAt, subject }) => {
    const companies = subject.api === undefined ? undefined : apis?.find(({ name }) => name === subject.api)?.companies
    return { code, count, evidence, sinceAt, subject, ...(companies && { companies }) }
  })
}

function merged(found: readonly Found[], now: number): Found[] {
  const bySubject = Map.groupBy(found, ({ code, subject = {} }) => `${code} ${JSON.stringify(subject)}`)
  return [...bySubject.values()].map((same) => ({
    ...same[0],
    sinceAt: Math.min(...same.map(({ sinceAt = now }) => sinceAt)),
    count: countOf(same),
    evidence: distinct(same.flatMap(({ evidence = [] }) => evidence)),
  }))
}

function countOf(same: readonly Found[]): number {
  const counts = same.map(({ count = 1 }) => count)
  return SAID_BY_EACH.has(same[0].code) ? Math.max(...counts) : counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Returns the id of a finding, from its code and its subject, the same each time that the finding begins. A new SOS of a
 * device is another finding, and is announced like the first.
 */
export function idOf({ code, subject, sinceAt }: Pick<Finding, 'code' | 'subject' | 'sinceAt'>): string {
  const id = `${code} ${JSON.stringify(Object.entries(subject).toSorted(([one], [other]) => (one < other ? -1 : 1)))}`
  return code === 'sos' && subject.device !== undefined ? `${id} ${sinceAt}` : id
}

/** Completes a finding with the texts of its code. */
export function findingOf(
  { subject = {}, evidence = [], ...found }: Found,
  now: number,
  name: Text = nameOf(subject),
): Finding {
  const { message, action, ...meaning } = CODES[found.code]
  return {
    ...meaning,
    message: say(message, name),
    action: say(action),
    sinceAt: now,
    count: 1,
    ...found,
    subject,
    evidence: evidence.slice(0, MAX_EVIDENCE),
  }
}

function nameOf({ copy, device, file, host = '', listener, process }: Finding['subject']): Text {
  if (file !== undefined) return say('{} on {}', file, host)
  return device ?? listener ?? process ?? copy ?? say('a device')
}

/** Whether a finding explains why positions wait: these need no finding of their own. `now`: ms UTC. */
export function explainsBacklog({ code, sinceAt }: Pick<Found, 'code' | 'sinceAt'>, now: number): boolean {
  return CAUSES_OF_BACKLOG.has(code) && (code !== 'worker_stuck' || now - (sinceAt ?? now) < HANDED_OVER_MS)
}

const CAUSES_OF_BACKLOG: ReadonlySet<FindingCode> = new Set([
  'no_worker',
  'worker_stuck',
  'upstream_down',
  'not_the_api',
  'upstream_hanging',
  'lane_hanging',
  'upstream_slow',
  'upstream_limited',
])
/** Other workers have the lanes of a stuck one 15 s after its last sign of life, and what had waited is pushed soon after. */
const HANDED_OVER_MS = 120_000
/** Findings about the clock of a device. */
const OF_CLOCKS: ReadonlySet<FindingCode> = new Set(['clock_ahead', 'clock_behind'])
/** A gateway judges its clock once a second, and tells it a second later. */
const NOTED_MS = 5000
const MAX_EVIDENCE = 5
/** A single damaged frame is normal, one without an id, and a sender without TLS; this many are reported. */
const NORMAL_ONCE: ReadonlySet<FindingCode> = new Set(['checksum_errors', 'no_id', 'plain_to_tls'])
const REPEATED = 3

/** Returns a finding for each of a few devices with the same trouble, and one for all if there are more. */
function groupTroubles(facts: Facts): Found[] {
  const { devices = [] } = facts
  const routes = devices.filter(({ code }) => code === 'two_on_route')
  const others = devices.filter(({ code }) => code !== 'two_on_route')
  const labelled = others.map(({ named, ...group }) => {
    return { ...group, named: named.map((each) => ({ ...each, name: facts.nameOf?.(each.id) ?? each.name })) }
  })
  return [...labelled.flatMap(troublesOf), ...routesTroubles(routes)]
}

function troublesOf({ code, count, named, sinceAt, subject }: DeviceGroup): Found[] {
  const { message, severity, ...meaning } = deviceMeaning(code)
  const action = say(meaning.action)
  if (count <= (ALWAYS_NAMED.has(code) ? HUNDRED : FEW))
    return named.map(({ id, name, evidence, ...device }) => ({
      action,
      ...device,
      code,
      severity,
      subject: { device: id, ...subject },
      message: say(message, name),
      evidence: [evidence],
    }))
  const first = named.slice(0, FEW).map(({ name }) => name)
  const evidence = [
    say('{} and {} more', first.join(', '), count - first.length),
    say('the longest: {}', oldest(named)),
  ]
  const about = devicesText(message, count)
  return [{ code, severity, action, subject, sinceAt, count, message: say(message, about), evidence }]
}

/** A finding for each route that several vans send on; if there are many such routes, one for each company. */
function routesTroubles(routes: readonly DeviceGroup[]): Found[] {
  return [...Map.groupBy(routes, ({ subject }) => subject.company_id).values()].flatMap((some): Found[] => {
    const { code, subject } = some[0]
    const { message } = CODES[code]
    const texts = some.map(({ count, named, subject: { route_id } }) => {
      const names = named
        .slice(0, FEW)
        .map(({ name }) => name)
        .join(', ')
      const vans = count > FEW ? say('{} and {} more', names, count - FEW) : names
      return say('{} on route {}', vans, route_id ?? '')
    })
    if (some.length <= FEW)
      return some.map((group, index) => ({
        code,
        subject: group.subject,
        sinceAt: group.sinceAt,
        count: group.count,
        message: say(message, texts[index]),
        evidence: [texts[index]],
      }))
    const { company_id } = subject
    return [
      {
        code,
        subject: { company_id },
        count: some.length,
        message: say(message, say('{} routes', some.length)),
        evidence: texts,
      },
    ]
  })
}

function oldest(named: DeviceGroup['named']): Text {
  const [{ name, evidence }] = named.toSorted((a, b) => a.sinceAt - b.sinceAt)
  return joined([name, evidence], ', ')
}

/** More devices with the same trouble are one finding. */
const FEW = 5
/** This many people do not press a button within a day: a wire or a decoder is wrong. */
const HUNDRED = 100

/** One of the seven links of the whole system. */
export interface LinkState extends Partial<Flow> {
  readonly link: Link
  /** `broken`: it has a finding that is an error; `idle`: nothing arrives; `unknown`: that is not known yet, Redis does not answer, or replicas are missing. */
  readonly state: 'ok' | 'broken' | 'idle' | 'unknown'
  readonly findings: readonly string[]
}

/** Returns the states of the seven links, with the figures of each, if known, and its findings. `isEarly`: see `verdict`. */
export function linkStates(
  findings: readonly Finding[],
  { flows, isEarly = false }: { readonly flows?: Readonly<Record<Link, Flow>>; readonly isEarly?: boolean } = {},
): LinkState[] {
  const isUnknown = isEarly || isBlind(findings)
  return LINKS.map((link) => {
    const own = findings.filter((finding) => finding.link === link)
    const isBroken = own.some(({ code, severity }) => severity === 'error' && !BREAKS_NO_LINK.has(code))
    const isIdle = flows !== undefined && flows[link].perS <= 0
    const state = isBroken ? 'broken' : isUnknown ? 'unknown' : isIdle ? 'idle' : 'ok'
    return { link, state, ...flows?.[link], findings: [...new Set(own.map(({ code }) => code))] }
  })
}
