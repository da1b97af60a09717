import { between, type Random, seeded } from '../../src/sandbox/random.ts'

/** One fault to inject. Instants and lengths in ms from the beginning of the run. */
export interface Fault {
  readonly at: number
  readonly kind: string
  readonly lastsMs: number
  /** Chooses one of several equal targets, such as workers. */
  readonly pick: number
}

/** Faults of one track come one after the other; the tracks run in parallel. `gap` and lengths: seconds, least and most. */
interface Track {
  readonly gap: readonly [number, number]
  readonly kinds: Readonly<Record<string, readonly [number, number]>>
}

const AT_ONCE = [0, 0] as const
const STOPPED = [1, 8] as const
const MISBEHAVING = [1, 10] as const

/** Faults of Redis with replicas: one after the other, each once all replicas are in step again. */
const GROUP: Track = {
  gap: [3, 6],
  kinds: {
    'destroy-primary': [0.1, 3],
    'isolate-replica': [2, 8],
    'split-primary': [7, 14],
    'isolate-primary': [7, 14],
    'depose-primary': AT_ONCE,
    'freeze-replica': [1, 6],
    'move-slot': AT_ONCE,
    // The clock of the primary is an hour ahead or behind; those of its replicas are right.
    'skew-primary': MISBEHAVING,
  },
}

/** Faults of the clock of the product's machine, which is that of Redis too where there is one Redis. */
const CLOCK: Track = {
  gap: [3, 8],
  kinds: {
    'clock-ahead': MISBEHAVING,
    'clock-behind': MISBEHAVING,
    'clock-slewed': MISBEHAVING,
    // All processes are stopped, and continue with a clock that is ahead until it is set right.
    'clock-suspended': STOPPED,
  },
}

const TRACKS: readonly Track[] = [
  GROUP,
  {
    gap: [3, 7],
    kinds: {
      'kill-gateway': AT_ONCE,
      'kill-worker': AT_ONCE,
      'kill-admin': AT_ONCE,
      'kill-redis': AT_ONCE,
      'kill-supervisor': AT_ONCE,
      'torn-aof': AT_ONCE,
    },
  },
  {
    gap: [1, 4],
    kinds: {
      'stop-gateway': STOPPED,
      'stop-worker': STOPPED,
      'stop-admin': STOPPED,
      'stop-redis': STOPPED,
      'stop-supervisor': STOPPED,
      // Longer than its leases last.
      'stall-worker': [16, 20],
    },
  },
  { gap: [6, 14], kinds: { 'memory-full': [1, 5], 'disk-full': [1, 5] } },
  {
    gap: [0.5, 2],
    kinds: {
      'api-slow': MISBEHAVING,
      'api-silent': MISBEHAVING,
      'api-reset': MISBEHAVING,
      'api-refuse': MISBEHAVING,
      'api-500': MISBEHAVING,
      'api-503': MISBEHAVING,
      'api-429': MISBEHAVING,
      'api-504': MISBEHAVING,
      'api-half': MISBEHAVING,
      'api-late': MISBEHAVING,
    },
  },
  { gap: [3, 9], kinds: { 'cut-frames': [1, 5], 'lose-answers': [1, 5] } },
  CLOCK,
]

/** One of these is in the middle of a run, whose clocks, also those of the vans, are set to that time (dst.ts). */
const DST_KINDS = ['dst-begins', 'dst-ends']
const ALL = [...TRACKS.flatMap(({ kinds }) => Object.keys(kinds)), ...DST_KINDS]
/** Faults of a single Redis. */
const OF_ONE_REDIS = new Set(['kill-redis', 'torn-aof', 'stop-redis', 'memory-full', 'disk-full'])

/** Every kind of fault that there is, by where Redis is: one, a primary with replicas and Sentinels, or a Cluster. */
export const KINDS = {
  single: ALL.filter((kind) => !(kind in GROUP.kinds)),
  sentinel: ALL.filter((kind) => !OF_ONE_REDIS.has(kind) && kind !== 'move-slot'),
  cluster: ALL.filter((kind) => !OF_ONE_REDIS.has(kind)),
} satisfies Record<string, readonly string[]>

/** The faults of a run, in order: the same for the same seed, length and kinds. */
export function planFaults(seed: number, lengthMs: number, kinds: readonly string[]): Fault[] {
  const faults = TRACKS.flatMap((track, index) => {
    const chosen = Object.entries(track.kinds).filter(([kind]) => kinds.includes(kind))
    return chosen.length === 0
      ? []
      : faultsOf({ ...track, kinds: Object.fromEntries(chosen) }, seed * 31 + index, lengthMs)
  })
  const changes = DST_KINDS.filter((kind) => kinds.includes(kind))
  const change = changes.slice(seed % changes.length, (seed % changes.length) + 1)
  faults.push(...change.map((kind) => ({ at: lengthMs / 2, kind, lastsMs: 0, pick: 0 })))
  return faults.toSorted((a, b) => a.at - b.at)
}

/** Every kind once, in random order, then every kind again; the last fault ends with the run. */
function faultsOf({ gap, kinds }: Track, seed: number, lengthMs: number): Fault[] {
  const random = seeded(seed)
  const pause = () => Math.round(between(random, ...gap) * 1000)
  const faults: Fault[] = []
  for (let at = pause(); at < lengthMs; ) {
    for (const [kind, lasts] of shuffled(Object.entries(kinds), random)) {
      if (at >= lengthMs) break
      // Short ones are more frequent.
      const [least, most] = lasts
      const lastsMs = Math.min(Math.round((least + (most - least) * random() ** 2) * 1000), lengthMs - at)
      faults.push({ at, kind, lastsMs, pick: Math.floor(random() * 1000) })
      at += lastsMs + pause()
    }
  }
  return faults
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}
