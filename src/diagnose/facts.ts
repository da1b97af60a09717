import type { Observation, Subject } from '../observe/observations.ts'
import type { Text } from '../texts/text.ts'
import type { FindingCode, Link, Severity } from './codes.ts'
import type { DeviceGroup, StoppedTraffic } from './device-facts.ts'

/** One thing that is wrong, with its cause, its evidence and the action. Instants in ms UTC. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  /** The link that is broken or in danger. */
  readonly link: Link
  readonly subject: Subject
  /** Of a finding about one of several tracking APIs: the companies that push to it. */
  readonly companies?: readonly string[]
  readonly sinceAt: number
  readonly count: number
  readonly evidence: readonly Text[]
  readonly message: Text
  readonly action: Text
}

/** Result of a rule: omitted values are those of the code, and the time is now. */
export type Found = Pick<Finding, 'code'> & Partial<Finding>

/** Facts about the whole system; unknown ones are omitted. Instants in ms UTC, durations in ms. */
export interface Facts {
  readonly now: number
  /** Since when Redis has answered without a break and the clock has not jumped: from then on a missing sign of life means something. */
  readonly watchedSince?: number
  readonly observations: readonly Observation[]
  /** Returns the name of a device, by its id, with the id if its van has another tracker; undefined: it has none. */
  readonly nameOf?: (device: string) => string | undefined
  readonly processes?: readonly ProcessFacts[]
  readonly redis?: RedisFacts
  /** The tracking API; of several the worst. */
  readonly upstream?: UpstreamFacts
  /** The tracking APIs, if there are several. */
  readonly apis?: readonly ApiFacts[]
  readonly lanes?: readonly RefusedLanes[]
  readonly backlog?: WaitingFixes
  readonly devices?: readonly DeviceGroup[]
  readonly traffic?: readonly StoppedTraffic[]
  readonly roster?: RosterFacts
  readonly alerts?: readonly FailedReceiver[]
  /** How far back delivered fixes are kept if their memory is used up, and how far they should be: ms UTC. */
  readonly kept?: { readonly since: number; readonly wantedSince: number }
  readonly missing?: readonly MissingPositions[]
  readonly copies?: readonly CopyFacts[]
  /** Received fixes minus those that are accounted for, as counted last while no fix moved. */
  readonly difference?: number
}

/** What happened to the fixes of a copy. */
export interface CopyFacts {
  readonly copy: string
  readonly parked: number
  /** The answer because of which the last fix was parked, and when, ms UTC. */
  readonly refusal?: { readonly status: number; readonly message: string; readonly at: number }
  /** Fixes that it got minus those with a known outcome, as last counted while none moved. */
  readonly difference: number
}

/** A receiver of alerts that cannot be reached: `alerts.webhooks[0] (hooks.example)`. `sinceAt`: ms UTC; `tries`: since then. */
export interface FailedReceiver {
  readonly receiver: string
  readonly sinceAt: number
  readonly tries: number
  readonly reason: Text
}

/**
 * Positions of a lane that the tracking API accepted but does not have. `firstAt`, `lastAt`: their own times; `at`: when this
 * was found, ms UTC; `repaired`: how many were pushed or queued again.
 */
export interface MissingPositions {
  readonly lane: string
  readonly missing: number
  readonly checked: number
  readonly repaired: number
  readonly firstAt: number
  readonly lastAt: number
  readonly at: number
}

/** `ageMs`: since its last sign of life. */
export interface ProcessFacts {
  readonly role: 'gateway' | 'worker' | 'admin' | 'tracking'
  readonly pid: number
  readonly host: string
  readonly sinceAt: number
  readonly restartsAt?: readonly number[]
  readonly ageMs: number
}

/** Results of the writers of the roster. */
export interface RosterFacts {
  /** Writers whose last result has skipped lines. */
  readonly rejected: readonly {
    readonly writer: string
    readonly company_id?: string
    readonly lines: number
    readonly at: number
    readonly evidence: readonly Text[]
  }[]
  /** Files that are older than a version which another file of their name has written. */
  readonly stale: readonly { readonly name: string; readonly at: number }[]
  /** Pulled rosters that are not in effect as their servers have them. `since`: ms UTC; `tries`: since then. */
  readonly pulls?: readonly {
    readonly writer: string
    readonly company_id?: string
    readonly since: number
    readonly tries: number
    readonly reason: Text
    readonly refused?: true
  }[]
  /** Fixes delivered by lines that a file or a pulled roster has replaced. `at`: ms UTC. */
  readonly offers?: readonly {
    readonly company_id: string
    readonly writer: string
    readonly at: number
    readonly fixes: number
    readonly vans: readonly string[]
  }[]
  /** Companies without a line that begins today, that had some on each of the last five working days. `since`: ms UTC. */
  readonly missing: readonly { readonly company_id: string; readonly since: number }[]
}

export interface RedisFacts {
  /** When Redis stopped answering. */
  readonly downSince?: number
  /** The reason, from the connection. */
  readonly reason?: Text
  /** Its unsafe settings, a sentence each. */
  readonly unsafe?: readonly Text[]
  /** Sentences about missing replicas: nothing is acknowledged without them. */
  readonly missing?: readonly Text[]
  /** Which memory counts as that of a server without `maxmemory`, a sentence each. */
  readonly unlimited?: readonly Text[]
  /** Why its disk is full or nearly, a sentence each. */
  readonly disk?: readonly Text[]
  /** Whether it cannot rewrite its append-only file, for want of memory or disk. */
  readonly isUnrewritten?: boolean
  /** When Redis was started recently, by its run ids. */
  readonly restartsAt?: readonly number[]
}

/** The figures of one of several tracking APIs. `name`: `api.example`; `waiting`: positions that wait for it. */
export interface ApiFacts extends UpstreamFacts {
  readonly name: string
  readonly companies: readonly string[]
  readonly waiting: number
}

/** How the tracking API answers pushes. */
export interface UpstreamFacts {
  readonly state: 'up' | 'down' | 'limited'
  readonly since: number
  /** Where pushes go, without secrets. */
  readonly url: string
  readonly inFlight: number
  readonly oldestMs: number
  /** Identifies the request that waits longest. */
  readonly oldestTrace?: RequestNames
  readonly slowestMs: number
  readonly usualMs?: number
  readonly lastError?: UpstreamError
  /** Lanes in which single positions were refused within the last minute. */
  readonly refused: readonly RefusedPositions[]
  /** How the lanes are answered; undefined: that is not known. */
  readonly answers?: LaneAnswerFacts
  /** Companies whose OAuth token is refused. */
  readonly tokensRefused: readonly string[]
}

/**
 * A failed request. `code`: the kind of failure, `http` if the API answered with an error `status`, `not_the_api` if an HTML
 * page or a redirect came: then `message` is the beginning of the page.
 */
export interface UpstreamError {
  readonly at: number
  readonly code: string
  readonly status?: number
  readonly message?: string
  readonly content_type?: string
  /** Where a redirect leads. */
  readonly location?: string
  readonly operation: string
  readonly trace?: RequestNames
}

/** Identifies a request in the log of the API: the headers `x-request-id` and `traceparent`. */
export interface RequestNames {
  readonly requestId: string
  readonly traceparent: string
}

/** Positions of a lane that were refused singly. `at`, `status`, `message`, `trace`: of the last one. */
export interface RefusedPositions {
  readonly lane: string
  readonly positions: number
  readonly at: number
  readonly status: number
  readonly message: string
  readonly trace?: RequestNames
}

/** How the lanes are answered that were pushed within ten minutes. */
export interface LaneAnswerFacts {
  /**
   * Lanes without an answer for 15 s. `others`: how many other lanes the API has answered since the latest of these began to
   * wait.
   */
  readonly unanswered: WaitingLanes & { readonly named: readonly UnansweredLane[] }
  /** Lanes whose requests take 5 s or longer; `leastMs`: the quickest of them. */
  readonly slow: WaitingLanes & { readonly leastMs: number }
}

/** `known`: how many lanes there are in all. */
export interface WaitingLanes {
  readonly count: number
  readonly others: number
  readonly known: number
}

/** `since`: when its request began; `others`: how many other lanes the API has answered since. */
interface UnansweredLane {
  readonly lane: string
  readonly since: number
  readonly others: number
  /** How many positions wait in it. */
  readonly waiting: number
}

/** Lanes of a company that are parked whole, by the answer. */
export interface RefusedLanes {
  readonly company: string
  readonly status: number
  readonly message: string
  readonly since: number
  readonly lanes: readonly string[]
  /** Of the last request that was refused. */
  readonly trace?: RequestNames
  /** When a push with the company's apikey was accepted last. */
  readonly acceptedAt?: number
  /** When one was accepted last before one was refused with 403 last. */
  readonly acceptedBefore?: number
}

interface WaitingFixes {
  readonly fixes: number
  readonly lanes: number
  readonly oldestAt?: number
}
