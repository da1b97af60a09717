import type { Socket } from 'node:net'
import type { Protocol } from '../../protocols/kit/index.ts'
import { createSession, type DeviceSession } from '../ingest/device.ts'
import type { FrameOutcome, Ingest } from '../ingest/ingest.ts'
import type { Misunderstood } from '../ingest/misunderstood.ts'
import { metrics } from '../observe/metrics.ts'
import type { Replica } from '../roster/replica.ts'
import type { DeviceConnection } from './connections.ts'
import type { Shared } from './listener.ts'
import { GuardedStream } from './mqtt-guard.ts'

/** What the built-in broker needs beside what listeners share. */
export interface MqttShared extends Shared {
  /** Every protocol by its name. */
  readonly protocols: ReadonlyMap<string, Protocol>
  readonly ingest: Pick<Ingest, 'take' | 'waitForRoster'>
  readonly replica: Pick<Replica, 'roster'>
  /** Keeps a payload that could not be understood. */
  readonly misunderstood: (entry: Misunderstood) => void
  /** Whether an unknown device may log in: its fixes are held. */
  readonly admitsUnknown: boolean
}

/** One connection, between its socket and the broker. */
export class MqttConnection implements DeviceConnection {
  readonly stream: GuardedStream
  readonly session: DeviceSession
  unidentifiedSince: number
  heardAt: number
  idleMs: number
  partialBytes = 0
  storing = 0
  /** Its QoS 2 messages that are not released yet. */
  unreleased: Unreleased = new Map()
  readonly #shared: MqttShared

  constructor(shared: MqttShared, socket: Socket, remote: string) {
    const { limits, pressure } = shared
    this.#shared = shared
    this.session = createSession('mqtt', remote)
    this.unidentifiedSince = this.session.connectedAt
    this.heardAt = this.session.connectedAt
    this.idleMs = limits.idle_timeout
    const maxConnect = Math.min(limits.max_frame_bytes, MAX_CONNECT_BYTES)
    const maxPublish = limits.max_frame_bytes + TOPIC_BYTES
    this.stream = new GuardedStream(socket, {
      maxLength: (packet) => (packet === 1 ? maxConnect : maxPublish),
      heard: () => (this.heardAt = Date.now()),
      // Bytes that were dropped when memory was short are subtracted again as the connection ends.
      changed: (bytes) => pressure.setPartial(this, Math.max(0, this.partialBytes + bytes)),
      refuse: (fault) => this.end(fault),
    })
    socket.setNoDelay(true)
  }

  pause(): void {
    this.stream.stopReading()
  }

  resume(): void {
    this.stream.startReading()
  }

  end(reason: string): void {
    const { device, remote } = this.session
    this.session.ended = reason
    metrics.refused.inc({ reason })
    this.#shared.logger.debug({ reason, protocol: 'mqtt', device, remote }, 'connection ended')
    this.stream.destroy()
  }

  ended(): void {
    this.#shared.heard.gone(this.session)
  }
}

/** A login: ids, a password, and a will that is dropped. Before it, no more is buffered. */
const MAX_CONNECT_BYTES = 8192
/** What a PUBLISH has beside its payload. */
const TOPIC_BYTES = 1024

/** The QoS 2 messages of a session that are not released yet, by packet identifier. */
export type Unreleased = Map<number, { readonly digest: string; readonly outcome: Promise<FrameOutcome> }>
