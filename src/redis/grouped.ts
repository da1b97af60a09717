interface GroupOptions {
  /** The largest number of calls that are in flight at once. */
  readonly inFlight?: number
  /** The largest weight of a group. A single item may be heavier. */
  readonly maxWeight?: number
  /**
   * The least time between two calls, unless the waiting items weigh `enough` (default: `maxWeight`); a quarter of that is
   * enough if items come so fast that they would weigh `enough` within `FAST_MS`.
   */
  readonly apartMs?: number
  readonly enough?: number
}

/**
 * Group commit: all items that arrive while the previous call is in flight, or within `apartMs` of its begin, are sent
 * together in the next call. A single item is sent at once. `send` returns one result for each item, in order; if it fails,
 * every item fails.
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000, apartMs = 0, enough = maxWeight }: GroupOptions = {},
): (item: Item, weight?: number) => Promise<Result> {
  /** In the order in which they are sent; items join the last one. */
  const waiting: Group<Item, Result>[] = []
  let waitingWeight = 0
  let away = 0
  let leftAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let isDue = false

  async function sendNext(): Promise<void> {
    if (away >= inFlight || waiting.length === 0) return
    const sinceMs = performance.now() - leftAt
    const isEnough = waitingWeight >= enough * Math.min(1, Math.max(FAST_SHARE, sinceMs / FAST_MS))
    if (!isEnough && sinceMs < apartMs) return void (timer ??= setTimeout(sendLater, Math.ceil(apartMs - sinceMs)))
    const [{ items, weight, answer }] = waiting.splice(0, 1)
    waitingWeight -= weight
    away++
    leftAt = performance.now()
    const sending = send(items)
    void sendNext()
    try {
      answer.resolve(await sending)
    } catch (error) {
      answer.reject(error)
    }
    away--
    void sendNext()
  }

  function sendLater(): void {
    timer = undefined
    void sendNext()
  }

  return (item, weight = 1) => {
    const isFirst = waiting.length === 0
    let group = waiting[waiting.length - 1]
    if (isFirst || group.weight + weight > maxWeight)
      waiting.push((group = { items: [], weight: 0, answer: Promise.withResolvers() }))
    const index = group.items.push(item) - 1
    group.weight += weight
    waitingWeight += weight
    if (!isDue && away < inFlight && (isFirst || waitingWeight >= enough * FAST_SHARE)) {
      isDue = true
      // Once the items of this turn of the event loop are there.
      setImmediate(() => {
        isDue = false
        void sendNext()
      })
    }
    return group.answer.promise.then((results) => results[index])
  }
}

/** Items of one call. */
interface Group<Item, Result> {
  readonly items: Item[]
  weight: number
  readonly answer: PromiseWithResolvers<Result[]>
}

/** If items would weigh `enough` within this time, ms, a group need not wait for all of it; and the part that is enough then. */
const FAST_MS = 4
const FAST_SHARE = 0.25
