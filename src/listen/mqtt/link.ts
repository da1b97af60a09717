import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import type { Protocol } from '../../../protocols/kit/index.ts'
import type { DeviceSession } from '../../ingest/device.ts'
import type { Misunderstood } from '../../ingest/misunderstood.ts'
import type { Directory } from '../../roster/directory.ts'
import type { Shared } from '../listener.ts'
import type { Unreleased } from './twice.ts'

/** What the built-in broker needs beyond what listeners share. */
export interface MqttShared extends Shared {
  /** Every protocol by its name. */
  readonly protocols: ReadonlyMap<string, Protocol>
  /** Whether it is known who may log in. */
  readonly complete: () => boolean
  /** The directory now in effect. */
  readonly directory: () => Directory
  /** Keeps a payload that could not be understood. Nobody waits for it. */
  readonly misunderstood: (entry: Misunderstood) => void
  /** Whether a device that nobody has configured may log in: what it publishes is held. */
  readonly admitsUnknown: boolean
}

/** One MQTT connection, between the listener and the broker. */
export interface Link {
  readonly stream: Duplex
  readonly session: DeviceSession
  /** After how long a silence it ends, ms. */
  silenceMs: number
  unreleased: Unreleased
}

/** The link of one of the broker's clients. */
export type LinkOf = (client: Client) => Link

/** An error that ends a connection for a reason that has been counted. */
export function refusalError(reason: string) {
  return Object.assign(new Error(reason), { reason })
}
