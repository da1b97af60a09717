/** A queue that serves the waiting networks in turn, and each network in order of arrival. */
export class RoundRobin<Item> {
  readonly #waiting = new Map<string, Item[]>()

  add(network: string, item: Item): void {
    const others = this.#waiting.get(network)
    if (others) others.push(item)
    else this.#waiting.set(network, [item])
  }

  waiting(network: string): number {
    return this.#waiting.get(network)?.length ?? 0
  }

  /** Takes out all that have left. */
  removeGone(isGone: (item: Item) => boolean): Item[] {
    return [...this.#waiting].flatMap(([network, items]) => {
      const { gone = [], staying = [] } = Object.groupBy(items, (item) => (isGone(item) ? 'gone' : 'staying'))
      if (staying.length > 0) this.#waiting.set(network, staying)
      else this.#waiting.delete(network)
      return gone
    })
  }

  /** How many of all networks wait. */
  get size(): number {
    return this.#waiting.values().reduce((sum, items) => sum + items.length, 0)
  }

  /** Drops the newest item of the network with the most waiting items. */
  drop(): void {
    const [most] = [...this.#waiting.values()].toSorted((one, other) => other.length - one.length)
    if (most && most.length > 1) most.pop()
    else this.next()
  }

  /** Removes and returns the next item; undefined if none waits. */
  next(): Item | undefined {
    const [first] = this.#waiting
    if (!first) return undefined
    const [network, items] = first
    const item = items.shift()
    this.#waiting.delete(network)
    if (items.length > 0) this.#waiting.set(network, items)
    return item
  }
}
