import { createHash } from 'node:crypto'

/**
 * Lets devices that nobody has configured yet be held, so that one address that invents ids does not take the place of
 * others: a tenth of all from each address, counted anew every hour.
 */
export function createStrangers(maxDevices: number): { admit(id: string, address: string): boolean } {
  const most = Math.max(1, Math.floor(maxDevices / 10))
  let perAddress = new Map<string, Set<string>>()
  let since = performance.now()
  return {
    admit(id, address) {
      if (id.length === 0 || Buffer.byteLength(id) > MAX_ID_BYTES) return false
      if (performance.now() - since > HOUR_MS || perAddress.size > MAX_ADDRESSES) {
        perAddress = new Map()
        since = performance.now()
      }
      const ids = perAddress.get(address) ?? new Set()
      perAddress.set(address, ids)
      const key = id.length <= 20 ? id : createHash('sha256').update(id).digest('base64')
      if (!ids.has(key) && ids.size >= most) return false
      ids.add(key)
      return true
    },
  }
}

const HOUR_MS = 3_600_000
const MAX_ADDRESSES = 100_000
/** As long as a configured device's id may be. */
const MAX_ID_BYTES = 64
