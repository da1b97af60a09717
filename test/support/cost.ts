/**
 * CPU that anybody's 64 KB may cost in a test, ms: what is linear takes one or two, a refusal for each entry took 150 to 950. On a
 * busy machine everything takes longer.
 */
export const MOST_CPU_MS = 100

/**
 * ms of CPU of this thread that a work takes, whatever else the machine does. What takes more than `MOST_CPU_MS` is run again: the least
 * of five runs counts, divided by how much longer than usual new memory takes on this machine now, at most ten.
 */
export function cpuOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5 && least >= MOST_CPU_MS; run++) least = Math.min(least, threadCpuOf(work))
  if (least < MOST_CPU_MS) return least
  return least / Math.min(MOST_SLOWER, Math.max(1, threadCpuOf(takeMemory) / USUAL_MS))
}

function threadCpuOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

const takeMemory = () => Array.from({ length: 200_000 }, (_, i) => ({ i, text: `${i}` }))
/** Of `takeMemory`, on a machine that is not busy. */
const USUAL_MS = 20
/** What takes 20 times as long as is allowed is found on any machine. */
export const MOST_SLOWER = 10
