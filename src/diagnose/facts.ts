import type { Observation, Subject } from '../observe/observations.ts'
import type { Text } from '../texts/text.ts'
import type { FindingCode, Link, Severity } from './codes.ts'

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
  /** Since when Redis has answered without a break. Only after that does a missing sign of life mean something. */
  readonly watchedSince?: number
  readonly observations: readonly Observation[]
  /** Returns the name of a device, by its id; undefined: it has none. */
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
  /** Companies without a line that begins today, that had some on each of the last five working days. */
  readonly missing: readonly string[]
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
  readonly answeredAt?: number
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

/** Facts about one device. Speeds in m/s. */
export interface DeviceFacts {
  readonly id: string
  readonly name?: string
  /** Its company; undefined: it is not configured. */
  readonly company?: string
  /** Where its entry stands: `devices.yaml:9`. */
  readonly source?: string
  /** Its last line that has ended: its place, and when it ended. */
  readonly ended?: { readonly source: string; readonly at: number }
  /** Its present route and courier. */
  readonly route?: { readonly courier: string; readonly route: string }
  /** When it was heard last; undefined: never. */
  readonly heardAt?: number
  /** Its first message that is known; undefined: that is not known. */
  readonly heardSince?: number
  /** When its open connection began; undefined: it has no lasting one. */
  readonly connectedAt?: number
  /** The usual time between two of its messages, ms. */
  readonly usualMs?: number
  /** For how long it usually sleeps while its ignition is off, ms. */
  readonly sleepMs?: number
  /** The last values that its tracker sent beside its positions. */
  readonly said?: SaidFacts
  readonly fix?: {
    /** When a fix came that is newer than all before it. */
    readonly newAt: number
    readonly time: number
    readonly speed?: number
  }
  /** Fixes that did not go to a lane: the last of them. */
  readonly unplaced?: { readonly reason: string; readonly at: number; readonly isHeld: boolean }
  /** Whether its last message had a fix that did not go to a lane. */
  readonly isUnplaced?: boolean
  /** Whether fixes of it are held as those of an unconfigured device. */
  readonly isHeldUnknown?: boolean
  /** If it fell silent together with others and was not heard since. */
  readonly stopped?: StoppedWith
  /** For a device that is not configured: the entry in which its id may be mistyped; that device was never heard. */
  readonly meant?: MeantEntry
  /**
   * A sender of the last hour that was not understood but whose bytes contain its id, if that was after the device was last
   * heard.
   */
  readonly sender?: LostSender
  /** The time by which its last fixes are all late, ms, and the time zone that would explain it. */
  readonly behind?: { readonly ms: number; readonly sinceAt: number; readonly zone?: string }
  /** Whether its last two fixes were late by the same: a few more will show whether its clock is behind. */
  readonly isLate?: boolean
}

/** The last values that a tracker sent beside its positions, if a conclusion follows from them. */
export interface SaidFacts {
  /**
   * `at`: when it was last sent; `sinceAt`: when it took this value; `otherAt`: when the other value was last sent,
   * undefined: never.
   */
  readonly ignition?: {
    readonly value: boolean
    readonly at: number
    readonly sinceAt: number
    readonly otherAt?: number
  }
  readonly charging?: { readonly value: boolean; readonly at: number }
  /** V. */
  readonly external_voltage?: { readonly value: number; readonly at: number }
  readonly battery_percent?: { readonly value: number; readonly at: number }
  /** The last one of each kind. */
  readonly alarms?: readonly RaisedAlarm[]
}

/** When an alarm was raised last, and when that came. */
export interface RaisedAlarm {
  readonly alarm: string
  readonly at: number
  /** When it was first raised; an alarm that comes ten minutes or more after the last one begins anew. */
  readonly sinceAt: number
  readonly cameAt: number
}

/** `name`: of the device, else its id; `source`: `devices.yaml:9`; `slip`: how the id there differs. */
export interface MeantEntry {
  readonly name: string
  readonly source: string
  readonly slip: 'swapped' | 'wrong' | 'missing'
}

/** A sender that was not understood. `at`: the last time, `sinceAt`: the first, ms UTC. */
export interface LostSender {
  readonly at: number
  readonly sinceAt: number
  readonly address: string
  readonly port?: number
  /** What the port expects. */
  readonly protocol?: string
  /** The protocol that it seems to use, and its port; undefined: no listener is for it. */
  readonly speaks?: { readonly protocol: string; readonly port?: number }
}

/** A configured van that should be heard: it has a route now, is not parked, and does not send elsewhere. */
export interface TrafficVan {
  readonly id: string
  readonly company: string
  readonly heardAt: number
  /** The usual time between two of its messages, ms; 0: not known. */
  readonly usualMs: number
  /** Whether it stood when it was last heard, without reporting that its ignition was on: it may have been switched off. */
  readonly hasStood: boolean
  /** The id of the gateway that heard it last, whose clock may differ from ours. */
  readonly gateway: string
  traits(): readonly Trait[]
}

/** With whom a van fell silent: with vans of its company alone, or of several. `foundAt`: when that was found, ms UTC. */
export interface StoppedWith {
  readonly of: 'company' | 'companies'
  readonly foundAt: number
}

/** A common trait of vans. */
export interface Trait {
  readonly kind: 'port' | 'protocol' | 'gateway' | 'company' | 'model' | 'network'
  readonly value: string
}

/** Vans that fell silent together, of all that share something (if they do). Instants in ms UTC: when they were heard last. */
export interface StoppedTraffic {
  readonly vans: number
  /** Of how many. */
  readonly of: number
  readonly still: number
  readonly fromAt: number
  readonly untilAt: number
  /** Their company, if all of them belong to one. */
  readonly company?: string
  /**
   * Their common trait. `others`: how many vans (of the company, if there is one) do not have it; `othersSilent`: how many of
   * these fell silent at that time.
   */
  readonly shared?: Trait & { readonly others: number; readonly othersSilent: number; readonly also: readonly Trait[] }
  /** The ids of the first. */
  readonly named: readonly string[]
}

/** Devices with the same trouble, of one company or of one route; the first of them are named. */
export interface DeviceGroup {
  readonly code: FindingCode
  readonly subject: Subject
  readonly count: number
  readonly sinceAt: number
  readonly named: readonly TroubledDevice[]
}

/** `name`: its name, else its id. */
export interface TroubledDevice {
  readonly id: string
  readonly name: string
  readonly sinceAt: number
  readonly evidence: Text
  /** A more specific action than the usual one. */
  readonly action?: Text
}
