/**
 * Group commit: what arrives while the previous call is away leaves together in the next one. No timer.
 *
 * @param send takes a group and answers with one result for each item, in order; if it fails, every item of it fails
 * @param options `inFlight`: calls away at once; `maxWeight`: where a group ends (one item may be heavier)
 * @returns a function that takes an item and its weight
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000 } = {},
): (item: Item, weight?: number) => Promise<Result> {
  const waiting: WaitingItem<Item, Result>[] = []
  let away = 0

  function sendNext(): void {
    if (away >= inFlight || waiting.length === 0) return
    let size = 1
    for (let sum = waiting[0].weight; size < waiting.length; size++)
      if ((sum += waiting[size].weight) > maxWeight) break
    const group = waiting.splice(0, size)
    away++
    void send(group.map(({ item }) => item))
      .then(
        (results) => group.forEach(({ resolve }, index) => resolve(results[index])),
        (error: unknown) => group.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        away--
        sendNext()
      })
    sendNext()
  }

  return (item, weight = 1) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, weight, resolve, reject })
      if (waiting.length === 1 && away < inFlight) setImmediate(sendNext)
    })
}

interface WaitingItem<Item, Result> {
  readonly item: Item
  readonly weight: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}
