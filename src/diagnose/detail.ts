import type { Text } from '../texts/text.ts'
import type { DeviceFacts, LostSender, MeantEntry } from './device-facts.ts'
import type { Finding } from './facts.ts'

/** The parts of `GET /admin/devices/{id}` that explanations use. Instants are RFC 3339. */
export interface DeviceDetail {
  readonly id: string
  readonly configured: boolean
  readonly company_id?: string
  readonly source?: string
  readonly file_entry?: string
  readonly state?: 'online' | 'offline' | 'never'
  readonly condition?: string
  readonly secret?: boolean
  readonly protocol?: string
  readonly transports?: readonly string[]
  readonly networks?: readonly string[]
  readonly client_certificate?: readonly string[]
  readonly held: readonly HeldDetail[]
  readonly lane?: LaneDetail
  readonly replaced_line?: { readonly source: string }
  readonly last_heard?: {
    readonly at: string
    readonly protocol?: string
    readonly transport: string
    readonly remote: string
  }
  readonly last_fix?: { readonly time_at?: string; readonly received_at: string }
  readonly last_filtered?: { readonly reason: string; readonly at: string; readonly held?: boolean }
  /** Per month and day, with the headers below. */
  readonly air?: { readonly bytes_per_month: number; readonly connects_anew: boolean }
  readonly events: readonly DetailEvent[]
}

/** An event; of one with the name `routed`, the ids of its lane. */
interface DetailEvent extends Partial<Pick<LaneDetail, 'courier_id' | 'route_id'>> {
  readonly at: string
  readonly event: string
  readonly reason?: string
}

interface HeldDetail {
  readonly reason: string
  readonly fixes: number
  readonly oldest_at: string
  readonly offset?: string
  readonly replaced_line?: { readonly source: string }
}

interface LaneDetail {
  readonly courier_id: string
  readonly route_id: string
  readonly source: string
  readonly from_at?: string
  readonly waiting: number
  readonly oldest_at?: string
  readonly last_push?: { readonly at: string; readonly status: number | string }
}

/** Parked positions of a lane. */
export interface ParkedDetail {
  readonly company_id: string
  readonly courier_id: string
  readonly route_id: string
  readonly fixes: number
  readonly parked?: { readonly status: number; readonly message: string }
  readonly refused: readonly {
    readonly status: number
    readonly message: string
    readonly at?: string
    readonly count: number
  }[]
}

/** The gateway's data about a device. */
export interface ExplainedDevice {
  readonly device: DeviceDetail
  readonly parked: readonly ParkedDetail[]
  /** Frames whose positions are not understood, in the protocol of the latest of them; undefined if there are none. */
  readonly misunderstood?: {
    readonly frames: number
    readonly sinceAt: string
    readonly protocol: string
    /** Why the latest of them could not be read, if its decoder tells. */
    readonly error?: string
  }
  /** `unanswered_since_at`: since when the device's own lane has got no answer, if that is for 15 s or longer. */
  readonly upstream: {
    readonly state: 'up' | 'down' | 'limited'
    readonly since_at: string
    readonly unanswered_since_at?: string
  }
  /** When the device was given to its company, ms UTC; undefined: it never had another one. */
  readonly companySince?: number
  /** For a device that is not configured: the entry that probably means it. */
  readonly meant?: MeantEntry
  /** A sender that sends the device's id to a port that does not understand it. */
  readonly sender?: LostSender
  /** For a device that was never heard: the id that sends, is not configured, and may be mistyped in its entry. */
  readonly similar?: string
  /** The line of a roster about the device that is left out, and why. */
  readonly leftOut?: Text
  /** Since when positions of the device wait in a lane that it had before. */
  readonly before?: { readonly route_id: string; readonly oldest_at: string }
  /** The cause that holds up all devices, if the message names it already. */
  readonly waitsFor?: Finding['code']
  /** Findings about the device itself. */
  readonly findings?: readonly Pick<Finding, 'code' | 'evidence' | 'action'>[]
  /** ms UTC. */
  readonly now: number
}

/** Facts about one device and about the links after it. */
export interface ChainFacts {
  readonly device: DeviceFacts
  /** Its position, degrees and ms UTC; undefined: none is known. `place`: `2 km NE of Kaunas`. */
  readonly position?: {
    readonly at: number
    readonly latitude: number
    readonly longitude: number
    readonly place?: Text
  }
  readonly explained: Omit<ExplainedDevice, 'findings'>
  /** All findings that hold in the whole system. */
  readonly findings: readonly Finding[]
}
