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
  #younger = new Map<string, Peer>()
  #older = this.#younger

  constructor(max: number, idleMs: number) {
    this.#idleMs = idleMs
    this.#maxPerGeneration = Math.ceil(max / 2)
    this.#timer = setInterval(() => this.#dropOlder(), Math.min(idleMs, MAX_INTERVAL_MS))
  }

  find(remote: string): DeviceSession | undefined {
    const peer = this.#younger.get(remote) ?? this.#older.get(remote)
    return peer && performance.now() - peer.heardAt <= this.#idleMs ? peer.session : undefined
  }

  remember(session: DeviceSession): void {
    if (session.device === undefined) return
    const isYounger = this.#younger.get(session.remote)?.session === session
    if (!isYounger && this.#younger.size >= this.#maxPerGeneration) this.#dropOlder()
    this.#younger.set(session.remote, { session, heardAt: performance.now() })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #dropOlder(): void {
    this.#older = this.#younger
    this.#younger = new Map()
  }
}

/** `heardAt`: by `performance.now()`, which no jump of the clock changes. */
interface Peer {
  readonly session: DeviceSession
  readonly heardAt: number
}

const MAX_INTERVAL_MS = 2 ** 31 - 1
