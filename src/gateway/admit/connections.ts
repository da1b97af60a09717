import type { Socket } from 'node:net'
import type { Conversation } from '../conversation.ts'
import type { Shared } from '../wire/listener.ts'
import type { PartialSender } from './backpressure.ts'
import type { SenderLimits } from './flood.ts'
import type { Slot } from './slots.ts'

/** A connection on which a device stays. */
export interface DeviceConnection extends PartialSender, Slot {
  readonly session: Conversation
  readonly senderLimits: SenderLimits
  /**
   * When the connection became able to identify itself, and when its device was last heard, ms by `performance.now()`.
   * Time in which the connection was not read does not count.
   */
  unidentifiedSince: number
  heardAt: number
  /** ms of silence after which it ends. */
  readonly idleMs: number
  /** Number of frames being stored; until then the connection is not read. */
  readonly storing: number
  /** Whether its bytes wait for their turn in protocol detection: see guess-budget.ts. */
  readonly isInQueue?: boolean
  stopReading(): void
  startReading(): void
  /** Ends the connection at once; the reason is counted. */
  abort(reason: string): void
}

/**
 * The connections of one listener. They are not read under pressure, and end if they stay unidentified or silent for too
 * long.
 */
export class Connections<Connection extends DeviceConnection> {
  readonly open = new Set<Connection>()
  readonly #protocol: string
  readonly #shared: Shared
  readonly #sweeping: NodeJS.Timeout
  #sweptAt = performance.now()
  #isClosing = false

  constructor(protocol: string, shared: Shared) {
    this.#protocol = protocol
    this.#shared = shared
    shared.pressure.follow((isHigh) => {
      for (const connection of this.open) {
        if (isHigh) connection.stopReading()
        else if (!this.#isClosing) connection.startReading()
      }
    })
    this.#sweeping = setInterval(() => this.#sweep(), 1000)
  }

  /** Adds a connection, until it is removed. */
  add(connection: Connection): void {
    this.open.add(connection)
    this.#shared.slots.opened(connection)
    if (this.#shared.pressure.isHigh) connection.stopReading()
  }

  /** Accepts no more connections, and resumes none. */
  close(): void {
    this.#isClosing = true
    clearInterval(this.#sweeping)
  }

  /** Removes a connection whose socket is closed. */
  remove(connection: Connection): void {
    const { journal, logger, pressure, slots } = this.#shared
    const { session } = connection
    this.open.delete(connection)
    slots.closed(connection)
    if (session.device !== undefined && session.storedAt === 0) connection.senderLimits.endedWithoutFix(session)
    pressure.setPartial(connection, 0)
    pressure.unfinished.drop(connection.session)
    if (this.#isClosing) session.endFor('shutdown')
    const { device, ended: reason, remote } = session
    if (reason) logger.debug({ reason, protocol: this.#protocol, device, remote }, 'connection ended')
    journal.gone(session)
  }

  #sweep(): void {
    const { limits, pressure } = this.#shared
    const now = performance.now()
    const passedMs = now - this.#sweptAt
    this.#sweptAt = now
    for (const connection of this.open) {
      if (pressure.isHigh || connection.storing > 0 || connection.isInQueue) {
        // Time in which a connection is not read, or waits for the gateway, does not count as silence.
        connection.unidentifiedSince += passedMs
        connection.heardAt += passedMs
      } else if (
        connection.session.device === undefined &&
        now - connection.unidentifiedSince > limits.identify_timeout
      )
        connection.abort('not_identified')
      else if (now - connection.heardAt > idleMsOf(connection)) connection.abort('idle')
    }
  }
}

/** Returns the idle timeout, which is short for an unconfigured device, so that a silent one does not occupy a place. */
function idleMsOf({ idleMs, session }: DeviceConnection): number {
  return session.isConfigured ? idleMs : Math.min(idleMs, UNCONFIGURED_IDLE_MS)
}

/** Resolves after `ms`, or when the socket closes. */
export function pauseOf(socket: Socket, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      socket.off('close', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    socket.on('close', end)
  })
}

/** Keepalives of 60 s, as MQTT clients have them by default, arrive in time. */
const UNCONFIGURED_IDLE_MS = 90_000
