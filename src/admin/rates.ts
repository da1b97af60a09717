import { custodyCounters, type Redis } from '../lanes/index.ts'

/** Fixes a second, over the last ten. */
export interface Rates {
  readonly received_per_s: number
  readonly delivered_per_s: number
}

/** Looks at the counters once a second; 0 until it has seen them twice, and while it cannot see them. */
export function watchRates(redis: Redis): { readonly now: () => Rates; readonly close: () => void } {
  let samples: Sample[] = []
  let looking = false

  async function look(): Promise<void> {
    if (looking) return
    looking = true
    const counters = await custodyCounters(redis).catch(() => undefined)
    looking = false
    if (!counters) return
    const next = sample(counters, performance.now())
    samples = isReset(samples, next) ? [next] : [...recent(samples, next.at), next]
  }

  const timer = setInterval(() => void look(), 1000)
  void look()
  return {
    now: () => {
      const seen = recent(samples, performance.now())
      return { received_per_s: rate(seen, 'received'), delivered_per_s: rate(seen, 'delivered') }
    },
    close: () => clearInterval(timer),
  }
}

/** `at`: ms of a clock that only goes forward. */
interface Sample {
  readonly at: number
  readonly received: number
  readonly delivered: number
}

function sample(counters: ReadonlyMap<string, number>, at: number): Sample {
  return { at, received: counters.get('received') ?? 0, delivered: counters.get('delivered') ?? 0 }
}

function recent(samples: readonly Sample[], now: number): Sample[] {
  return samples.filter(({ at }) => now - at <= WINDOW_MS)
}

/** Somebody emptied Redis. */
function isReset(samples: readonly Sample[], { received, delivered }: Sample): boolean {
  const last = samples.at(-1)
  return last !== undefined && (received < last.received || delivered < last.delivered)
}

/** To a tenth. */
function rate(samples: readonly Sample[], counter: 'received' | 'delivered'): number {
  const [first, last] = [samples.at(0), samples.at(-1)]
  if (!first || !last || first === last) return 0
  return Math.round(((last[counter] - first[counter]) / (last.at - first.at)) * 10_000) / 10
}

const WINDOW_MS = 10_500
