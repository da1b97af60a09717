import { addressOf, networkOf } from '../domain/addresses.ts'
import { MAX_ID_BYTES } from '../domain/ids.ts'
import type { Logger } from '../observe/log.ts'
import type { Conversation } from './conversation.ts'

/**
 * Decides which unknown devices may have held fixes: each network (/24, IPv6 /56) gets a tenth of all places in an hour, so
 * that a network that invents ids does not use up the places of others. Datagrams count separately, since their addresses may
 * be forged.
 */
export class UnknownDeviceQuota {
  readonly #devicesPerNetwork: number
  readonly #proven = new AdmittedDevices()
  readonly #unproven = new AdmittedDevices()

  constructor(maxDevices: number) {
    this.#devicesPerNetwork = Math.max(1, Math.floor(maxDevices / 10))
  }

  admit(id: string, { remote, transport }: Pick<Conversation, 'remote' | 'transport'>): boolean {
    if (!isHoldable(id)) return false
    const admitted = transport === 'udp' ? this.#unproven : this.#proven
    return admitted.admit(networkOf(addressOf(remote)), id, this.#devicesPerNetwork)
  }
}

/** Whether anything may be kept of an id that is not configured: it is one, and not too long. */
export function isHoldable(id: string): boolean {
  return id.length > 0 && Buffer.byteLength(id) <= MAX_ID_BYTES
}

/** Admitted devices by network; forgotten after an hour, or when there are too many. */
class AdmittedDevices {
  readonly #byNetwork = new Map<string, Set<string>>()
  #count = 0
  #since = performance.now()

  admit(network: string, id: string, most: number): boolean {
    if (performance.now() - this.#since > HOUR_MS || this.#count >= MAX_ADMITTED) this.#forget()
    const ids = this.#byNetwork.get(network) ?? new Set()
    if (ids.has(id) || ids.size >= most) return ids.has(id)
    this.#byNetwork.set(network, ids.add(id))
    this.#count++
    return true
  }

  #forget(): void {
    this.#byNetwork.clear()
    this.#count = 0
    this.#since = performance.now()
  }
}

/**
 * Logs refused devices that no finding names: each one once, until it has been silent for ten minutes, and at most 100 a
 * minute.
 */
export class RejectedDeviceLog {
  readonly #logger: Logger
  readonly #lastAt = new Map<string, number>()
  #logged = 0
  #since = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(device: string, reason: string, remote: string): void {
    const now = performance.now()
    if (now - this.#since > MINUTE_MS) {
      this.#logged = 0
      this.#since = now
    }
    const lastAt = this.#lastAt.get(device) ?? -Infinity
    if (now - lastAt > QUIET_MS && this.#logged >= MAX_LOGGED) return
    // The map stays sorted by time: the device that was refused the longest ago is first.
    this.#lastAt.delete(device)
    if (this.#lastAt.size >= MAX_REMEMBERED) this.#lastAt.delete(this.#lastAt.keys().next().value ?? '')
    this.#lastAt.set(device, now)
    if (now - lastAt <= QUIET_MS) return
    this.#logged++
    this.#logger.warn({ device: device.slice(0, 64), reason, remote }, REJECTIONS.get(reason) ?? 'refused')
  }
}

const REJECTIONS = new Map([
  ['unknown_device', 'refused: the device is not configured'],
  ['other_device', 'refused: the device used the id of another device'],
])
const MINUTE_MS = 60_000
const QUIET_MS = 600_000
const MAX_LOGGED = 100
const MAX_REMEMBERED = 10_000
const HOUR_MS = 3_600_000
const MAX_ADMITTED = 100_000
