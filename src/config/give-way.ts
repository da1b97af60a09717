import { setImmediate } from 'node:timers/promises'

let turned = 0

/**
 * To be awaited in loops over a fleet: every few milliseconds it lets the process' other work run. Otherwise nothing would
 * be acknowledged for seconds while 100,000 devices and their routes are read.
 */
export async function giveWay(): Promise<void> {
  if (performance.now() - turned < SLICE_MS) return
  await setImmediate()
  turned = performance.now()
}

const SLICE_MS = 5
