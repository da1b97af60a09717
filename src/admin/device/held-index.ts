import { sameId } from '../../config/units.ts'
import { HELD_LISTS, type HeldLists, heldDevices, heldMark, type Redis } from '../../lanes/index.ts'

/** Some held fixes of a device: in which lists, and under which name. */
export interface HeldEntry {
  readonly lists: HeldLists
  readonly device: string
}

/** The devices that have held fixes, by id without leading zeros. */
export class HeldIndex {
  readonly #redis: Redis
  #places = new Map<string, HeldEntry[]>()
  #mark = ''
  #readAt = -Infinity

  constructor(redis: Redis) {
    this.#redis = redis
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  of(key: string): readonly HeldEntry[] {
    return this.#places.get(key) ?? NONE
  }

  /** Answers the devices that came or went. Of many devices it reads the names less often. */
  async look(): Promise<Set<string>> {
    const { devices, mark } = await heldMark(this.#redis)
    const isDue = devices <= FEW || performance.now() - this.#readAt > (mark === this.#mark ? SELDOM_MS : OFTEN_MS)
    if (!isDue) return new Set()
    this.#mark = mark
    this.#readAt = performance.now()
    const before = this.#places
    const lists = await Promise.all(
      HELD_LISTS.map(async (some) => [some, await heldDevices(this.#redis, some)] as const),
    )
    const places = lists.flatMap(([some, names]) => names.map((device): HeldEntry => ({ lists: some, device })))
    this.#places = Map.groupBy(places, ({ device }) => sameId(device))
    return new Set(before.keys()).symmetricDifference(new Set(this.#places.keys()))
  }
}

const NONE: readonly HeldEntry[] = []
const FEW = 2000
const OFTEN_MS = 2000
const SELDOM_MS = 20_000
