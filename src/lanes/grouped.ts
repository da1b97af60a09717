/**
 * Group commit: what arrives while the previous call is away leaves together in the next one. No timer.
 *
 * @param send takes a group and answers with one result for each item, in order; if it fails, every item of it fails
 * @param options `inFlight`: calls away at once; `weigh` and `maxWeight`: where a group ends (one item may be heavier)
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000, weigh = () => 1 }: GroupOptions<Item> = {},
): (item: Item) => Promise<Result> {
  let waiting: Entry<Item, Result>[] = []
  let away = 0

  function next(): void {
    if (away >= inFlight || waiting.length === 0) return
    const group = cut()
    away++
    void send(group.map(({ item }) => item))
      .then(
        (results) => group.forEach(({ resolve }, index) => resolve(results[index])),
        (error: unknown) => group.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        away--
        next()
      })
    next()
  }

  function cut(): Entry<Item, Result>[] {
    let weight = 0
    let size = 0
    while (size < waiting.length && (size === 0 || weight + weigh(waiting[size].item) <= maxWeight))
      weight += weigh(waiting[size++].item)
    const group = waiting
    waiting = group.splice(size)
    return group
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (waiting.length === 1 && away < inFlight) setImmediate(next)
    })
}

interface GroupOptions<Item> {
  readonly inFlight?: number
  readonly maxWeight?: number
  readonly weigh?: (item: Item) => number
}

interface Entry<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}
