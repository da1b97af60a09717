/**
 * Group commit: what arrives while the previous call is away leaves together in the next one. No timer. `send` answers with
 * one result for each item, in order; if it fails, every item fails. `inFlight`: calls away at once; `maxWeight`: where a
 * group ends (one item may be heavier).
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000 } = {},
): (item: Item, weight?: number) => Promise<Result> {
  const waiting: { item: Item; weight: number; answer: PromiseWithResolvers<Result> }[] = []
  let away = 0

  async function sendNext(): Promise<void> {
    if (away >= inFlight || waiting.length === 0) return
    let size = 1
    for (let sum = waiting[0].weight; size < waiting.length; size++)
      if ((sum += waiting[size].weight) > maxWeight) break
    const group = waiting.splice(0, size)
    away++
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

  return (item, weight = 1) => {
    const answer = Promise.withResolvers<Result>()
    waiting.push({ item, weight, answer })
    if (waiting.length === 1 && away < inFlight) setImmediate(() => void sendNext())
    return answer.promise
  }
}
