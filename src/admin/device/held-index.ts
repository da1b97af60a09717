import { sameId } from '../../domain/ids.ts'
import { HELD_LISTS, heldDevices, heldMark, type HeldPlace, type Store } from '../../store/index.ts'

/** The devices that have held fixes, by id without leading zeros. */
export class HeldIndex {
  readonly #redis: Store
  #places = new Map<string, HeldPlace[]>()
  #mark = ''
  #readAt = -Infinity

  constructor(redis: Store) {
    this.#redis = redis
  }

  /** Returns the lists with held fixes of a device, and its name in each. `key`: its id without leading zeros. */
  of(key: string): readonly HeldPlace[] {
    return this.#places.get(key) ?? NONE
  }

  /** Returns the devices that came or went. Of many devices it reads the names less often. */
  async look(): Promise<Set<string>> {
    const { devices, mark } = await heldMark(this.#redis)
    const isDue = devices <= FEW || performance.now() - this.#readAt > (mark === this.#mark ? SELDOM_MS : OFTEN_MS)
    if (!isDue) return new Set()
    this.#mark = mark
    this.#readAt = performance.now()
    const before = this.#places
    const places = await Promise.all(
      HELD_LISTS.map(async (lists) => (await heldDevices(this.#redis, lists)).map((device) => ({ lists, device }))),
    )
    this.#places = Map.groupBy(places.flat(), ({ device }) => sameId(device))
    return new Set(before.keys()).symmetricDifference(new Set(this.#places.keys()))
  }
}

const NONE: readonly HeldPlace[] = []
const FEW = 2000
const OFTEN_MS = 2000
const SELDOM_MS = 20_000
