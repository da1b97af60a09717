import { onTestFinished } from 'vitest'
import type { Protocol } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import { FixStorage } from '../../src/gateway/fix-storage.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { Holding } from '../../src/gateway/holding.ts'
import type { Mappings } from '../../src/gateway/mappings.ts'
import { Redecoding } from '../../src/gateway/redecoding.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { Ingest } from '../../src/gateway/take.ts'
import { createLogger } from '../../src/observe/log.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import { DuplicateFilter, FrameStore, Appender, type Store } from '../../src/store/index.ts'
import { beating } from './beat.ts'
import { journalOf } from './journal.ts'
import { createDirectory } from './roster.ts'
import { NO_MAPPINGS, NO_SECRETS } from './unconfigured.ts'

const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
export const MAX_AGE_MS = 3_600_000
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const logger = createLogger('test', { level: 'fatal', format: 'json' })

interface RedisGatewayOptions {
  readonly devices: Iterable<Device>
  readonly lines?: Iterable<Assignment>
  /** Whether devices that are not configured are admitted. Default: yes. */
  readonly admitsUnknown?: boolean
  readonly protocolNamed: (name: string) => Promise<Protocol | undefined>
  readonly mappings?: Pick<Mappings, 'read'>
}

/** The path of frames on a real Redis, with a roster that tests replace. */
export async function redisGateway(redis: Store, setup: RedisGatewayOptions) {
  const { devices, lines = [], admitsUnknown = true, protocolNamed, mappings = NO_MAPPINGS } = setup
  const replica = { current: true, version: 0, roster: await createDirectory(devices, lines) }
  const shares = { markBytes: 1e9, heldFixes: 1e9, misunderstoodBytes: 1e9 }
  const duplicates = new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 })
  const limits = { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 10 }
  const appending = { maxWaitMs: 0, duplicates, shares, hold: limits }
  const appender = new Appender(redis, appending)
  const storing = {
    replica,
    filter: FILTER,
    hold: { ...HOLD, unknown: admitsUnknown },
    appender,
    journal: journalOf(),
    clock: { isInDoubt: false, jumps: 0, now: () => Date.now() },
    capacity: { hasShortage: false, isFull: false, shortageFor: () => undefined },
    holding: { marking: undefined },
    trails: new Trails(),
  }
  const storage = new FixStorage(storing)
  const ingest = new Ingest({
    ...storing,
    storage,
    frameStore: new FrameStore(redis, shares),
    unknownDevices: new UnknownDeviceQuota(1000),
    guesses: new GuessDelays(),
    enrolment: { isOpen: false },
    secrets: NO_SECRETS,
    mappings,
    waitMs: { tcp: 0, mqtt: 0, http: 0, udp: 0 },
  })
  onTestFinished(() => appender.close())
  return {
    clock: storing.clock,
    replica,
    ingest,
    /** Decodes what is kept again; `secret`: that of the van in a file. */
    decodeAgain(secret?: string) {
      const { clock, journal } = storing
      const secrets = { of: async () => (secret === undefined ? [] : [secret]) }
      const options = {
        redis,
        protocolNamed,
        mappings,
        replica,
        secrets,
        storage,
        clock,
        journal,
        maxAgeMs: MAX_AGE_MS,
        logger,
      }
      const redecoding = beating(new Redecoding(options), (each) => each.look())
      onTestFinished(() => redecoding.close())
      return redecoding
    },
    /** Judges what is held by the roster. */
    release() {
      const holding = beating(new Holding({ ...storing, redis, appender: appending, logger }), (each) => each.look())
      onTestFinished(() => holding.close())
      return holding
    },
  }
}
