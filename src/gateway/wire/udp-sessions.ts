import { sameId } from '../../domain/ids.ts'
import { RecentlyUsed } from '../recently-used.ts'
import type { Conversation } from '../conversation.ts'

/**
 * The sessions of identified peers, by address and port. Unidentified peers have none, and those of unconfigured devices are
 * kept separately, so that forged sources displace no device.
 * When another device uses the address of a peer, the address identifies nobody: its source was forged, or a carrier's NAT
 * has given its port to another device, and a datagram that names no device may be from either. This lasts until the first
 * device names itself again, or until its session would have expired.
 */
export class UdpSessions {
  readonly #idleMs: number
  readonly #configured: RecentlyUsed<Peer>
  readonly #others: RecentlyUsed<Peer>

  constructor(max: number, idleMs: number) {
    this.#idleMs = idleMs
    this.#configured = new RecentlyUsed(Math.ceil(max / 2), idleMs)
    this.#others = new RecentlyUsed(Math.ceil(max / OTHERS / 2), idleMs)
  }

  /** Returns the session of a peer; undefined also for an address that identifies nobody. */
  find(remote: string): Conversation | undefined {
    const peer = this.#peerAt(remote)
    return peer?.isShared ? undefined : peer?.session
  }

  /** Keeps the session of an identified peer. */
  remember(session: Conversation): void {
    const { device, isConfigured, remote } = session
    if (device === undefined) return
    const peer = this.#peerAt(remote)
    if (peer && sameId(peer.device) !== sameId(device)) return this.#share(peer, isConfigured ? device : undefined)
    this.#keep({ device, isConfigured, session, heardAt: performance.now() })
  }

  /**
   * Notes that a refused device has used an address; undefined: which one is unknown. The peer itself may be refused, by its
   * entry.
   */
  noteRefused({ remote }: Conversation, device: string | undefined): void {
    const peer = this.#peerAt(remote)
    const isOther = peer && (device === undefined || sameId(device) !== sameId(peer.device))
    if (isOther && !peer.isShared) this.#share(peer)
  }

  /** Returns the configured devices that have used an address which identifies nobody; undefined: it identifies its device. */
  sharing(remote: string): readonly string[] | undefined {
    const { device, isConfigured, isShared, other } = this.#peerAt(remote) ?? {}
    if (!isShared) return undefined
    return [isConfigured ? device : undefined, other].filter((each) => each !== undefined)
  }

  #peerAt(remote: string): Peer | undefined {
    const [known, other] = [this.#configured.get(remote), this.#others.get(remote)]
    const peer = known && this.#isThere(known) ? known : other
    return peer && this.#isThere(peer) ? peer : undefined
  }

  #isThere({ heardAt }: Peer): boolean {
    return performance.now() - heardAt <= this.#idleMs
  }

  /** The peer keeps its time: its address is free again when its session would have expired. */
  #share(peer: Peer, other?: string): void {
    this.#keep({ ...peer, isShared: true, other })
  }

  #keep(peer: Peer): void {
    const peers = peer.isConfigured ? this.#configured : this.#others
    peers.set(peer.session.remote, peer, performance.now())
  }
}

interface Peer {
  readonly device: string
  readonly isConfigured: boolean | undefined
  readonly session: Conversation
  /** By `performance.now()`, which no jump of the clock changes. */
  readonly heardAt: number
  /** Whether another device has used the address. */
  readonly isShared?: boolean
  /** The other device that has used it last, if it is configured. */
  readonly other?: string
}

/** For each so many peers of configured devices one of another is kept. */
const OTHERS = 10
