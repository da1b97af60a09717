/**
 * CPU that anybody's 64 KB may cost in a test, ms: what is linear takes one or two, a refusal for each entry took 150 to 950. On a
 * busy machine everything takes longer.
 */
export const MOST_CPU_MS = 50

/**
 * ms of CPU of this thread that a work takes, whatever else the machine does. What takes more than `MOST_CPU_MS` is run again: the least
 * of five runs counts.
 */
export function cpuOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5 && least >= MOST_CPU_MS; run++) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}
