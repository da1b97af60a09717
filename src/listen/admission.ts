import { metrics } from '../observe/metrics.ts'

export interface AdmissionLimits {
  readonly max_connections: number
  readonly max_connections_per_ip: number
}

/** Counts the open connections of all transports together, and per address. */
export interface Admission {
  /** Whether one more connection of this address may stay; if so, `leave` must be called when it ends. */
  enter(address: string): boolean
  leave(address: string): void
}

export function createAdmission({ max_connections, max_connections_per_ip }: AdmissionLimits): Admission {
  const perAddress = new Map<string, number>()
  let all = 0
  return {
    enter(address) {
      const here = perAddress.get(address) ?? 0
      const reason =
        all >= max_connections ? 'max_connections' : here >= max_connections_per_ip ? 'max_per_ip' : undefined
      if (reason) {
        metrics.refused.inc({ reason })
        return false
      }
      all++
      perAddress.set(address, here + 1)
      return true
    },
    leave(address) {
      all--
      const here = (perAddress.get(address) ?? 0) - 1
      if (here > 0) perAddress.set(address, here)
      else perAddress.delete(address)
    },
  }
}
