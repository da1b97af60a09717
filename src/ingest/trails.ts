import { observations } from '../observe/observations.ts'
import type { DeviceSession } from './device.ts'
import { addressOf, networkOf } from './network.ts'
import { DeviceTrail, type Sender, type Suspicion } from './suspicion.ts'

/** What is remembered of the configured devices that this gateway hears, to notice that somebody else uses an id. */
export class Trails {
  readonly #trails = new Map<string, DeviceTrail>()

  of(device: string): DeviceTrail {
    const known = this.#trails.get(device)
    if (known) return known
    const [oldest] = this.#trails.size >= MAX_TRAILS ? this.#trails.keys() : []
    if (oldest !== undefined) this.#trails.delete(oldest)
    const trail = new DeviceTrail()
    this.#trails.set(device, trail)
    return trail
  }

  /** A device has sent fixes on a session. */
  heard(device: string, session: DeviceSession, protocol: string): void {
    session.sender ??= senderOn(session, protocol)
    noteSuspicion(device, this.of(device).heard(session.sender, session.now / 1000))
  }
}

/** Has what is odd about a device among the findings. */
export function noteSuspicion(device: string, suspicion: Suspicion | undefined): void {
  if (suspicion) observations.note(suspicion.code, { subject: { device }, evidence: suspicion.evidence })
}

function senderOn({ connectedAt, remote, transport }: DeviceSession, protocol: string): Sender {
  const isConnection = transport === 'tcp' || transport === 'mqtt'
  return {
    protocol: transport === 'mqtt' ? 'mqtt' : protocol,
    network: transport === 'http' ? '' : networkOf(addressOf(remote)),
    connectedAt: isConnection ? connectedAt : 0,
  }
}

const MAX_TRAILS = 200_000
