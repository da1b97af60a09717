import { answerText, counted, english, say, type Template, type Text } from '../texts/text.ts'
import { CODES } from './codes.ts'
import type { Facts, Found, ProcessFacts, RosterFacts } from './facts.ts'

/** Returns the troubles of Redis, the processes, the backlog, the account, the roster and the receivers of alerts. */
export function systemTroubles(facts: Facts): Found[] {
  return [
    redisTroubles,
    processTroubles,
    backlogTroubles,
    accountTroubles,
    rosterTroubles,
    alertTroubles,
    keepTroubles,
    copyTroubles,
  ].flatMap((troubles) => troubles(facts))
}

export function redisTroubles({ redis = {}, now }: Facts): Found[] {
  const {
    disk = [],
    downSince,
    isUnrewritten,
    missing = [],
    reason,
    restartsAt = [],
    unlimited = [],
    unsafe = [],
  } = redis
  const found: Found[] = []
  if (downSince !== undefined)
    found.push({
      code: 'redis_down',
      sinceAt: downSince,
      evidence: [...(reason === undefined ? [] : [reason]), ...disk],
      ...diskTrouble(reason, disk),
    })
  if (missing.length > 0) found.push({ code: 'replicas_missing', evidence: missing })
  if (unsafe.length > 0) found.push({ code: 'redis_unsafe', evidence: unsafe })
  if (unlimited.length > 0) found.push({ code: 'redis_unlimited', evidence: unlimited })
  if (disk.length > 0 || isUnrewritten)
    found.push({
      code: 'disk_full',
      evidence: isUnrewritten ? [...disk, say('Redis cannot rewrite its append-only file')] : disk,
      // For want of memory, too, Redis cannot start the process that rewrites the file.
      ...(disk.length === 0 && { message: say(UNREWRITTEN), action: say(REWRITE_ACTION) }),
    })
  const lately = restartsAt.filter((at) => isWithin(RESTARTS_WITHIN_MS, at, now))
  if (lately.length >= RESTARTS && isWithin(HEALTHY_MS, lately[lately.length - 1], now))
    found.push(restarting('Redis', lately))
  return found
}

/** Returns what keeps Redis from writing, if Redis reports it or its disk is full. */
function diskTrouble(reason: Text | undefined, disk: readonly Text[]): Partial<Found> {
  const says = reason === undefined ? '' : english(reason)
  const isRefused = /MISCONF|No space left/.test(says)
  if (!isRefused && disk.length === 0) return {}
  const message = isRefused
    ? say('Redis cannot write to its disk: nothing is stored and nothing acknowledged')
    : say('Redis does not answer, and its disk is full or nearly: nothing is stored and nothing acknowledged')
  return { message, action: say(DISK_ACTION) }
}

/** Whether it is known which processes run. At the start, and while Redis was away, none could give a sign of life. */
export function areProcessesKnown({ now, watchedSince = now }: Pick<Facts, 'now' | 'watchedSince'>): boolean {
  // Our clock may have been set back since.
  return Math.abs(now - watchedSince) >= STUCK_MS
}

function processTroubles(facts: Facts): Found[] {
  const { processes, now } = facts
  if (!processes || !areProcessesKnown(facts)) return []
  const found: Found[] = []
  const isAlive = (role: string) => processes.some((process) => process.role === role && process.ageMs < STUCK_MS)
  for (const role of ['gateway', 'worker'] as const)
    if (!isAlive(role)) {
      const own = processes.filter((process) => process.role === role)
      const sinceAt = own.length > 0 ? now - Math.min(...own.map(({ ageMs }) => ageMs)) : now
      found.push({ code: `no_${role}`, sinceAt, evidence: own.map(lastSign) })
    }
  for (const process of processes) {
    const { ageMs, restartsAt = [], role, sinceAt } = process
    if (role === 'worker' && ageMs >= STUCK_MS && isAlive(role))
      found.push({
        code: 'worker_stuck',
        subject: { process: english(nameOf(process)) },
        message: say(CODES.worker_stuck.message, nameOf(process)),
        sinceAt: now - ageMs,
        evidence: [lastSign(process)],
      })
    const lately = restartsAt.filter((at) => isWithin(RESTARTS_WITHIN_MS, at, now))
    const isHealthy = ageMs < STUCK_MS && !isWithin(HEALTHY_MS, sinceAt, now)
    if (lately.length >= RESTARTS && !isHealthy) found.push(restarting(nameOf(process), lately))
  }
  return found
}

/** Whether a time is at most so far from now. It may be ahead, as the clock was set back since. */
function isWithin(ms: number, at: number, now: number): boolean {
  return Math.abs(now - at) <= ms
}

function restarting(process: Text, at: readonly number[]): Found {
  const evidence = [say('{} restarts within {} minutes', at.length, RESTARTS_WITHIN_MS / 60_000)]
  return {
    code: 'restarting',
    subject: { process: english(process) },
    message: say(CODES.restarting.message, process),
    sinceAt: at[0],
    count: at.length,
    evidence,
  }
}

function backlogTroubles({ backlog, upstream, now }: Facts): Found[] {
  const { fixes = 0, lanes = 0, oldestAt = now } = backlog ?? {}
  if (now - oldestAt <= BACKLOG_MS || upstream?.state !== 'up') return []
  return [
    {
      code: 'backlog',
      sinceAt: oldestAt + BACKLOG_MS,
      count: fixes,
      evidence: [
        say('{} waiting on {}', counted(fixes, '{} position', '{} positions'), counted(lanes, '{} lane', '{} lanes')),
      ],
    },
  ]
}

function accountTroubles({ difference = 0 }: Facts): Found[] {
  if (difference === 0) return []
  const evidence =
    difference > 0
      ? counted(difference, '{} received fix is missing', '{} received fixes are missing')
      : counted(-difference, '{} fix too many', '{} fixes too many')
  return [{ code: 'custody_difference', count: Math.abs(difference), evidence: [evidence] }]
}

/** Returns the troubles of the roster: skipped lines, outdated files, and rosters that cannot be pulled. */
function rosterTroubles({ roster }: Facts): Found[] {
  if (!roster) return []
  const rejected = [...Map.groupBy(roster.rejected, ({ company_id }) => company_id)].map(leftOut)
  const stale = roster.stale.map(
    ({ name, at }): Found => ({
      code: 'roster_stale',
      sinceAt: at,
      message: say('{} is an older copy of what was written to the roster: it is not in effect', name),
      evidence: [name],
    }),
  )
  const missing = roster.missing.map(
    ({ company_id, since }): Found => ({
      code: 'roster_stale',
      sinceAt: since,
      subject: { company_id },
      message: say('company {} has no line for today, and had some on each of the last five working days', company_id),
    }),
  )
  const pulls = (roster.pulls ?? []).map(
    ({ writer, company_id, since, tries, reason, refused }): Found => ({
      code: 'roster_pull_failed',
      subject: { company_id, pull: writer },
      sinceAt: since,
      count: tries,
      message: say(refused ? PULL_REFUSED : CODES.roster_pull_failed.message, writer),
      action: say(refused ? PULL_REFUSED_ACTION : CODES.roster_pull_failed.action),
      evidence: [reason],
    }),
  )
  return [...rejected, ...stale, ...missing, ...pulls, ...offered(roster)]
}

/** What is left out of what writers of a company have written. */
function leftOut([company_id, results]: readonly [string | undefined, RosterFacts['rejected']]): Found {
  const count = results.reduce((sum, { lines }) => sum + lines, 0)
  const writers = results.map(({ writer }) => writer).join(', ')
  return {
    code: 'roster_rejected',
    subject: { company_id },
    sinceAt: Math.min(...results.map(({ at }) => at)),
    count,
    message:
      count === 1
        ? say('a line of {} is left out of the roster', writers)
        : say('{} lines of {} are left out of the roster', count, writers),
    evidence: results.flatMap(({ evidence }) => evidence),
  }
}

function offered({ offers = [] }: RosterFacts): Found[] {
  const open = offers.filter(({ fixes }) => fixes > 0)
  return open.map(({ company_id, writer, at, fixes, vans }): Found => {
    const named = vans.slice(0, MOST_VANS).join(', ')
    const who = vans.length > MOST_VANS ? say('{} and {} more', named, vans.length - MOST_VANS) : named
    return {
      code: 'redelivery_offered',
      subject: { company_id },
      sinceAt: at,
      count: fixes,
      message: say(CODES.redelivery_offered.message, who),
      evidence: [say('{}, by lines that {} has replaced', counted(fixes, '{} position', '{} positions'), writer)],
    }
  })
}

/** Returns the finding that delivered fixes are kept for less long than configured, if so. */
function keepTroubles({ kept, now }: Facts): Found[] {
  if (!kept) return []
  const { since, wantedSince } = kept
  const message = say(CODES.keep_full.message, hours(now - since))
  return [{ code: 'keep_full', message, evidence: [say('keep.delivered is {}', hours(now - wantedSince))] }]
}

/** Returns the refusals of copy receivers, and accounts of copies that do not add up. */
function copyTroubles({ copies = [] }: Facts): Found[] {
  const refused = copies.flatMap(({ copy, parked, refusal }): Found[] => {
    if (parked === 0 || !refusal) return []
    const { status, message, at } = refusal
    return [
      {
        code: 'copy_refused',
        subject: { copy },
        sinceAt: at,
        count: parked,
        evidence: [status === 0 ? message : answerText(status, message)],
      },
    ]
  })
  const differences = copies.flatMap(({ copy, difference }): Found[] => {
    if (difference === 0) return []
    const evidence = [say('the copy {}: {}', copy, counted(difference, '{} position', '{} positions'))]
    return [{ code: 'custody_difference', subject: { copy }, count: Math.abs(difference), evidence }]
  })
  return [...refused, ...differences]
}

function hours(ms: number): Text {
  return say('{} h', Math.floor(ms / 3_600_000))
}

function alertTroubles({ alerts = [] }: Facts): Found[] {
  return alerts.map(({ receiver, reason, sinceAt, tries }) => ({
    code: 'alert_failed',
    subject: { receiver },
    sinceAt,
    count: tries,
    message: say(CODES.alert_failed.message, receiver),
    evidence: [reason],
  }))
}

/** `worker 4711 on gate-1` */
function nameOf({ role, pid, host }: ProcessFacts): Text {
  return say('{} on {}', `${role} ${pid}`, host)
}

function lastSign(process: ProcessFacts): Text {
  return say('{}: last sign of life {} s ago', nameOf(process), Math.round(process.ageMs / 1000))
}

/** A process is reported as stuck after this time without a sign of life; it gives one each second. */
const STUCK_MS = 10_000
const RESTARTS = 3
const PULL_REFUSED: Template = 'the roster that is pulled from {} is refused: its lines stay as they were'
const PULL_REFUSED_ACTION: Template =
  'correct the roster at its source as the evidence says; where it would take routes and that is meant, write it with `waybridge routes put FILE --force`'
const UNREWRITTEN: Template = 'Redis cannot rewrite its append-only file: it grows until the disk is full'
const REWRITE_ACTION: Template =
  'see the log of Redis for the reason: it may lack memory for that (vm.overcommit_memory), or space on its disk'
const DISK_ACTION: Template =
  'free space on the disk that Redis writes to, or enlarge it; see the log of Redis; trackers keep what is not acknowledged'
const RESTARTS_WITHIN_MS = 300_000
/** A process that ended repeatedly counts as well again after it has run this long. */
const HEALTHY_MS = 10_000
const BACKLOG_MS = 60_000
const MOST_VANS = 5
