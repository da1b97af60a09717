import { alarmsOf, type Said } from '../kit/index.ts'

/*
 * The status, four bytes, as "GPS tracker communication protocol" 1.0.5 §2.4 has it. A bit is 0 where its condition is there:
 *
 *   28, 20  vehicle battery removed     19  fed by the backup battery     18, 1  SOS     10  ACC off
 *   21, 5   GPS antenna open            0   theft, which the vibration sensor finds in an armed vehicle
 */
const ACC = 1 << 10
const THEFT = 1
const SOS = (1 << 18) | (1 << 1)
const POWER = (1 << 28) | (1 << 20) | (1 << 19)
const ANTENNA = (1 << 21) | (1 << 5)

/** What a status says: nothing if no bit of it is set, which is a status that the device never filled in. */
export function saidOf(status: number): Said {
  if (status === 0) return {}
  const has = (bits: number) => (~status & bits) !== 0
  const alarms = alarmsOf(
    has(THEFT) && 'vibration',
    has(SOS) && 'sos',
    has(POWER) && 'power_cut',
    has(ANTENNA) && 'gps_antenna_cut',
  )
  return { ignition: !has(ACC), alarms }
}
