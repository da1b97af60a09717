import type { DeviceSession } from '../ingest/device.ts'

/**
 * The sessions of identified peers, by address and port; unidentified ones are not kept, so that forged sources push out no
 * device. Two generations make forgetting cheap: a device that speaks moves to the younger one, and the older one is dropped
 * as a whole when the younger one is full or has lasted `idleMs`.
 */
export class UdpSessions {
  readonly #idleMs: number
  readonly #maxPerGeneration: number
  readonly #timer: NodeJS.Timeout
  #younger = new Map<string, DeviceSession>()
  #older = this.#younger

  constructor(max: number, idleMs: number) {
    this.#idleMs = idleMs
    this.#maxPerGeneration = Math.ceil(max / 2)
    this.#timer = setInterval(() => this.#dropOlder(), Math.min(idleMs, MAX_INTERVAL_MS))
  }

  find(remote: string): DeviceSession | undefined {
    const session = this.#younger.get(remote) ?? this.#older.get(remote)
    return session && Date.now() - session.now <= this.#idleMs ? session : undefined
  }

  remember(session: DeviceSession): void {
    if (session.device === undefined || this.#younger.get(session.remote) === session) return
    if (this.#younger.size >= this.#maxPerGeneration) this.#dropOlder()
    this.#younger.set(session.remote, session)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #dropOlder(): void {
    this.#older = this.#younger
    this.#younger = new Map()
  }
}

const MAX_INTERVAL_MS = 2 ** 31 - 1
