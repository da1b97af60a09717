import { sameId } from '../config/units.ts'
import type { DeviceSession } from '../ingest/device.ts'

/**
 * The sessions of identified peers, by address and port; unidentified ones are not kept, so that forged sources push out no
 * device. Two generations make forgetting cheap: a device that speaks moves to the younger one, and the older one is dropped
 * as a whole when the younger one is full or has lasted `idleMs`.
 *
 * When another device uses the address of a peer, the address identifies nobody: its source was forged, or a carrier's NAT has
 * given its port to another device, and a datagram that names no device may be of either. It stays so until the first device names
 * itself again, or until its session would have been forgotten.
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

  /** The session of a peer; undefined also for an address that identifies nobody. */
  find(remote: string): DeviceSession | undefined {
    const peer = this.#peerAt(remote)
    return peer?.sharedBy ? undefined : peer?.session
  }

  /** Keeps the session of an identified peer. */
  remember(session: DeviceSession): void {
    const { device, isConfigured, remote } = session
    if (device === undefined) return
    const peer = this.#peerAt(remote)
    if (peer && sameId(peer.device) !== sameId(device)) return this.#share(peer, isConfigured ? [device] : [])
    this.#keep({ device, isConfigured, session, heardAt: performance.now() })
  }

  /** A device that is refused has used the address of a peer. */
  noteRefused({ remote }: DeviceSession): void {
    const peer = this.#peerAt(remote)
    if (peer && !peer.sharedBy) this.#share(peer, [])
  }

  /** The configured devices that have used an address which identifies nobody; undefined: it does. */
  sharing(remote: string): readonly string[] | undefined {
    const { device, isConfigured, sharedBy } = this.#peerAt(remote) ?? {}
    return sharedBy && device !== undefined && isConfigured ? [device, ...sharedBy] : sharedBy
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #peerAt(remote: string): Peer | undefined {
    const peer = this.#younger.get(remote) ?? this.#older.get(remote)
    return peer && performance.now() - peer.heardAt <= this.#idleMs ? peer : undefined
  }

  /** The time of the peer stays: its address is free again when its session would have been forgotten. */
  #share(peer: Peer, sharedBy: readonly string[]): void {
    this.#keep({ ...peer, sharedBy })
  }

  #keep(peer: Peer): void {
    const { remote } = peer.session
    if (!this.#younger.has(remote) && this.#younger.size >= this.#maxPerGeneration) this.#dropOlder()
    this.#younger.set(remote, peer)
  }

  #dropOlder(): void {
    this.#older = this.#younger
    this.#younger = new Map()
  }
}

interface Peer {
  readonly device: string
  readonly isConfigured: boolean | undefined
  readonly session: DeviceSession
  /** By `performance.now()`, which no jump of the clock changes. */
  readonly heardAt: number
  /** The other device that has used the address last, if it is configured; undefined: no other device has. */
  readonly sharedBy?: readonly string[]
}

const MAX_INTERVAL_MS = 2 ** 31 - 1
