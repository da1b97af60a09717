interface GroupOptions {
  /** The largest number of calls that are in flight at once. */
  readonly inFlight?: number
  /** The largest weight of a group. A single item may be heavier. */
  readonly maxWeight?: number
  /** The least time between two calls, unless the waiting items weigh `enough` (default: `maxWeight`). */
  readonly apartMs?: number
  readonly enough?: number
}

/**
 * Group commit: all items that arrive while the previous call is in flight, or within `apartMs` of its begin, are sent
 * together in the next call. A single item is sent at once. `send` returns one result for each item, in order; if it
 * fails, every item fails.
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000, apartMs = 0, enough = maxWeight }: GroupOptions = {},
): (item: Item, weight?: number) => Promise<Result> {
  const waiting: { item: Item; weight: number; answer: PromiseWithResolvers<Result> }[] = []
  let waitingWeight = 0
  let away = 0
  let leftAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  async function sendNext(): Promise<void> {
    if (away >= inFlight || waiting.length === 0) return
    const earlyMs = waitingWeight >= enough ? 0 : leftAt + apartMs - performance.now()
    if (earlyMs > 0) return void (timer ??= setTimeout(sendLater, Math.ceil(earlyMs)))
    let size = 1
    let weight = waiting[0].weight
    for (; size < waiting.length && weight + waiting[size].weight <= maxWeight; size++) weight += waiting[size].weight
    const group = waiting.splice(0, size)
    waitingWeight -= weight
    away++
    leftAt = performance.now()
    const sending = send(group.map(({ item }) => item))
    void sendNext()
    try {
      const results = await sending
      group.forEach(({ answer }, index) => answer.resolve(results[index]))
    } catch (error) {
      for (const { answer } of group) answer.reject(error)
    }
    away--
    void sendNext()
  }

  function sendLater(): void {
    timer = undefined
    void sendNext()
  }

  return (item, weight = 1) => {
    const answer = Promise.withResolvers<Result>()
    waiting.push({ item, weight, answer })
    waitingWeight += weight
    if ((waiting.length === 1 || waitingWeight >= enough) && away < inFlight) setImmediate(() => void sendNext())
    return answer.promise
  }
}
