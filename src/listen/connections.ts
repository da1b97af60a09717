import type { Socket } from 'node:net'
import type { DeviceSession } from '../ingest/device.ts'
import type { PartialSender } from './backpressure.ts'
import type { Shared } from './listener.ts'

/** A connection on which a device stays. */
export interface DeviceConnection extends PartialSender {
  readonly session: DeviceSession
  /** Since when it could have identified itself, and when its device was last heard; ms UTC, later by the time it was not read. */
  unidentifiedSince: number
  heardAt: number
  /** ms of silence after which it ends. */
  readonly idleMs: number
  /** Frames that are being stored; meanwhile the connection is not read. */
  readonly storing: number
  stopReading(): void
  startReading(): void
  /** Ends it at once; the reason is counted. */
  abort(reason: string): void
  /** Called when it has ended. */
  ended(): void
}

/** The connections of one listener: not read under pressure, and ended without an identity or after a long silence. */
export class Connections<Connection extends DeviceConnection> {
  readonly open = new Set<Connection>()
  readonly #transport: 'tcp' | 'mqtt'
  readonly #shared: Shared
  readonly #sweeping: NodeJS.Timeout
  #sweptAt = Date.now()
  #isClosing = false

  constructor(transport: 'tcp' | 'mqtt', shared: Shared) {
    this.#transport = transport
    this.#shared = shared
    shared.pressure.follow((isHigh) => {
      for (const connection of this.open) {
        if (isHigh) connection.stopReading()
        else if (!this.#isClosing) connection.startReading()
      }
    })
    this.#sweeping = setInterval(() => this.#sweep(), 1000)
  }

  /** Makes a connection of a socket, or destroys it where a limit is reached. */
  admit(socket: Socket, connectionOf: (remote: string) => Connection): Connection | undefined {
    const { connectionLimits, pressure } = this.#shared
    if (this.#isClosing) socket.destroy()
    if (this.#isClosing || !connectionLimits.admit(socket, this.#transport)) return undefined
    const connection = connectionOf(`${socket.remoteAddress}:${socket.remotePort}`)
    this.open.add(connection)
    socket.on('close', () => this.#remove(connection))
    if (pressure.isHigh) connection.stopReading()
    return connection
  }

  /** Admits no more connections, and resumes none. */
  close(): void {
    this.#isClosing = true
    clearInterval(this.#sweeping)
  }

  #remove(connection: Connection): void {
    this.open.delete(connection)
    this.#shared.pressure.setPartial(connection, 0)
    if (this.#isClosing) connection.session.ended ??= 'shutdown'
    connection.ended()
  }

  #sweep(): void {
    const { limits, pressure } = this.#shared
    const now = Date.now()
    const passedMs = now - this.#sweptAt
    this.#sweptAt = now
    for (const connection of this.open) {
      if (pressure.isHigh || connection.storing > 0) {
        // Time in which a connection is not read does not count as silence.
        connection.unidentifiedSince += passedMs
        connection.heardAt += passedMs
      } else if (
        connection.session.device === undefined &&
        now - connection.unidentifiedSince > limits.identify_timeout
      )
        connection.abort('not_identified')
      else if (now - connection.heardAt > connection.idleMs) connection.abort('idle')
    }
  }
}
