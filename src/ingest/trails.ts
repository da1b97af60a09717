import { observations } from '../observe/observations.ts'
import type { DeviceSession } from './device.ts'
import { addressOf, networkOf } from './network.ts'
import { DeviceTrail, type Sender, type Suspicion } from './suspicion.ts'

/** What is remembered of the configured devices that this gateway hears, to notice that somebody else uses an id. */
export class Trails {
  readonly #trails = new Map<string, DeviceTrail>()

  /** Notes who sends fixes of a device now. Answers the trail of the device. */
  heard(device: string, { now, sender }: Pick<DeviceSession, 'now' | 'sender'>): DeviceTrail {
    const trail = this.#of(device)
    if (sender) noteSuspicion(device, trail.heard(sender, now / 1000))
    return trail
  }

  #of(device: string): DeviceTrail {
    const known = this.#trails.get(device)
    if (known) return known
    const [oldest] = this.#trails.size >= MAX_TRAILS ? this.#trails.keys() : []
    if (oldest !== undefined) this.#trails.delete(oldest)
    const trail = new DeviceTrail()
    this.#trails.set(device, trail)
    return trail
  }
}

/** Has what is odd about a device among the findings. */
export function noteSuspicion(device: string, suspicion: Suspicion | undefined): void {
  if (suspicion) observations.note(suspicion.code, { subject: { device }, evidence: suspicion.evidence })
}

/** Who sends on a session, in a protocol. */
export function senderOn({ connectedAt, remote, transport }: DeviceSession, protocol: string): Sender {
  const isConnection = transport === 'tcp' || transport === 'mqtt'
  return {
    protocol: transport === 'mqtt' ? 'mqtt' : protocol,
    network: transport === 'http' ? '' : networkOf(addressOf(remote)),
    connectedAt: isConnection ? connectedAt : 0,
  }
}

const MAX_TRAILS = 200_000
