import type { Subject } from '../observe/observations.ts'
import type { Text } from '../texts/text.ts'
import type { FindingCode } from './codes.ts'

/** What is known of one device. Speeds in m/s. */
export interface DeviceFacts {
  readonly id: string
  readonly name?: string
  /** Its company; undefined: it is not configured. */
  readonly company?: string
  /** When it was given to its company, ms UTC; undefined: it never had another one. */
  readonly companySince?: number
  /** Where its entry stands: `devices.yaml:9`. */
  readonly source?: string
  /** Its last line that has ended: where that stands, and when it ended. */
  readonly ended?: { readonly source: string; readonly at: number }
  /** The route that it has now, and who drives it. */
  readonly route?: { readonly courier: string; readonly route: string }
  /** When it was heard last; undefined: never. */
  readonly heardAt?: number
  /** How long it could not be heard since then, ms. */
  readonly deafMs?: number
  /** Its first message that is known; undefined: that is not known. */
  readonly heardSince?: number
  /** When it was heard again after it had been silent; undefined: it was not, as far as known. */
  readonly wokenAt?: number
  /** When its open connection began; undefined: it has none that lasts. */
  readonly connectedAt?: number
  /** The usual time between two of its messages, ms. */
  readonly usualMs?: number
  /** For how long it usually sleeps while its ignition is off, ms. */
  readonly sleepMs?: number
  /** What its tracker said last beside its positions. */
  readonly said?: SaidFacts
  readonly fix?: {
    /** When a fix came that is newer than all before it, or was not known before. */
    readonly newAt: number
    readonly time: number
    readonly speed?: number
  }
  /** When its last message with a fix came, new or not; undefined: that is not known. */
  readonly positionAt?: number
  /** The fixes that did not go to a lane: the last of them. */
  readonly unplaced?: { readonly reason: string; readonly at: number; readonly isHeld: boolean }
  /** Whether its last message had a fix that did not go to a lane. */
  readonly isUnplaced?: boolean
  /** Whether fixes of it are held as those of a device that is not configured. */
  readonly isHeldUnknown?: boolean
  /** If it fell silent together with others and was not heard since. */
  readonly stopped?: StoppedWith
  /** For a device that is not configured: the entry in which its id may be mistyped; that device was never heard. */
  readonly meant?: MeantEntry
  /**
   * A sender of the last hour whose bytes have its id and that was not understood, if that was after the device was
   * last heard.
   */
  readonly sender?: LostSender
  /** Its last fixes are late by the same, ms, and the time zone that would explain that. */
  readonly behind?: { readonly ms: number; readonly sinceAt: number; readonly zone?: string }
  /** Whether its last two fixes were late by the same: a few more show whether its clock is behind. */
  readonly isLate?: boolean
}

/** What a tracker said last beside its positions, as far as something follows from it. */
export interface SaidFacts {
  /** `at`: when it was said last; `sinceAt`: when it became this value; `otherAt`: when the other was said last, undefined: never. */
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
  /** When it was raised first; one that is raised ten minutes or more after the last begins anew. */
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
  /** What it seems to speak, and the port for that; undefined: no listener is for it. */
  readonly speaks?: { readonly protocol: string; readonly port?: number }
}

/** A configured van that should be heard: it has a route now, is not parked, and does not send elsewhere. */
export interface TrafficVan {
  readonly id: string
  readonly company: string
  readonly heardAt: number
  /** The usual time between two of its messages, ms; 0: not known. */
  readonly usualMs: number
  /** Whether it stood when it was heard last, and did not say that its ignition was on: then it may have been switched off. */
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

/** What vans may have in common. */
export interface Trait {
  readonly kind: 'port' | 'protocol' | 'gateway' | 'company' | 'model' | 'network'
  readonly value: string
}

/** Vans that fell silent together, of all that share something (if they do). Instants in ms UTC: when they were heard last. */
export interface StoppedTraffic {
  readonly vans: number
  /** Number of vans that these are a part of. */
  readonly of: number
  readonly still: number
  readonly fromAt: number
  readonly untilAt: number
  /** Their company, if all of them are of one. */
  readonly company?: string
  /** What they share. `others`: how many vans (of the company, if there is one) do not; `othersSilent`: how many of these fell silent then. */
  readonly shared?: Trait & { readonly others: number; readonly othersSilent: number; readonly also: readonly Trait[] }
  /** The ids of the first. */
  readonly named: readonly string[]
}

/** Devices with the same trouble: of one company, or of one route. The first of them are named. */
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
  /** What to do, where that is known better than in general. */
  readonly action?: Text
}
