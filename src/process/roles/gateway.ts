import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { loadProtocol, loadProtocols } from '../../../protocols/index.ts'
import { everySecond, within } from '../../async.ts'
import { AUTO } from '../../config/listener.ts'
import type { Config } from '../../config/schema.ts'
import { CopyKeeper, CopyRoutes } from '../../copies/index.ts'
import { Capacity } from '../../gateway/acceptance.ts'
import { Arrivals } from '../../gateway/arrivals.ts'
import { OwnClock } from '../../gateway/clock.ts'
import { DayBook } from '../../gateway/day-book.ts'
import { Enrolment } from '../../gateway/enrolment.ts'
import { FixStorage } from '../../gateway/fix-storage.ts'
import { WatchedFrames } from '../../gateway/watched-frames.ts'
import { HeardBook } from '../../gateway/heard.ts'
import { Holding } from '../../gateway/holding.ts'
import { Journal } from '../../gateway/journal.ts'
import { Mappings } from '../../gateway/mappings.ts'
import { Redecoding } from '../../gateway/redecoding.ts'
import { Ingest } from '../../gateway/take.ts'
import { TrialBook } from '../../gateway/trial/book.ts'
import { Detector, type DetectorOptions, faultLogger } from '../../gateway/wire/detect.ts'
import type { Logger } from '../../observe/log.ts'
import { gatewayFigures } from '../../observe/metrics.ts'
import { DeviceSecrets } from '../../roster/device-secrets.ts'
import { Replica } from '../../roster/replica.ts'
import { Appender, DuplicateFilter, FrameStore, jobFaults, keys, signOn } from '../../store/index.ts'
import { InheritedSockets } from '../held-sockets.ts'
import { openStore, type Role, type RoleAddresses } from '../role.ts'
import { type OpenListeners, openListeners } from './listeners.ts'
import type { Live } from './live.ts'
import { readinessOf, redisReadiness } from './readiness.ts'
import { openSenderLimits } from './sender-limits.ts'

type At = Pick<RoleAddresses, 'redisServer' | 'ports' | 'identity' | 'sockets'>

/** The process that trackers connect to: the listeners, the path of their frames, and the appender to the lanes. */
export async function startGateway(live: Live, at: At): Promise<Role> {
  const redis = openStore(at.redisServer, 'gateway', live.logger)
  const replica = new Replica(redis, live.logger)
  await within(ROSTER_MS, live.join(replica))
  let listeners: OpenListeners | undefined
  const path = await openPath(live, replica, { ...at, retryPorts: () => listeners?.retry() })
  const { slot = 0, count = 1 } = at.identity ?? {}
  // A gateway on its own inherits no sockets, and also needs several for each port: gateway/wire/listener.ts explains why.
  const isShared = at.identity ? count > 1 : process.platform === 'linux'
  const inherited = new InheritedSockets(at.sockets)
  const opened = await openListeners(live, path, { earlier: at.ports, inherited, isShared, slot })
  listeners = opened
  return {
    ports: opened.ports,
    readiness: async () => readinessOf([...(await path.redisReadiness()).problems, ...path.problems()]),
    async close() {
      path.stopWaiting()
      await opened.close()
      await path.close()
      await live.close()
      redis.disconnect()
    },
  }
}

interface PathOptions extends Pick<At, 'identity'> {
  readonly retryPorts: () => Promise<void> | undefined
}

/** Opens everything between listeners and lanes. */
async function openPath(live: Live, replica: Replica, { identity, retryPorts }: PathOptions) {
  const { config, logger } = live
  const { redis } = replica
  const appending = appenderOptions(replica, config)
  const appender = new Appender(redis, appending)
  const problems = () => [...capacity.problems, ...(replica.current ? [] : [ROSTER_PROBLEM])]
  const frameStore = new FrameStore(redis, appending.shares)
  const limits = { stopAt: config.redis.stop_at, maxParked: config.parked.max_positions }
  const capacity = new Capacity(redis, { ...limits, shares: appending.shares })
  const clock = new OwnClock(redis, isClockSynchronised)
  const gateway = randomUUID()
  const heard = new HeardBook(redis, problems, gateway)
  const days = new DayBook(redis, { zone: config.time_zone, heard, capacity })
  const arrivals = new Arrivals({ redis, maxDevices: config.hold.max_unknown_devices, replica, logger })
  const watchedFrames = new WatchedFrames(redis, replica)
  const journal = new Journal({ heard, days, arrivals, watchedFrames, listeners: config.listeners, logger })
  const { logsOf } = new CopyRoutes(live)
  const keeper = new CopyKeeper({ redis, settings: live, stopAt: config.redis.stop_at, logger })
  const placing = { clock, replica, filter: filterOptions(config), hold: config.hold, journal, logsOf, logger }
  const holding = new Holding({ ...placing, redis, appender: appending })
  const named = { ...identity, role: 'gateway', installation: config.data_dir } as const
  const trials = config.listeners.filter(({ trial }) => trial).length
  const trialBook = new TrialBook(redis, { replica, maxUnknown: config.hold.max_unknown_devices })
  const sharing = signOn(redis, named, async () => ({ ...(await gatewayFigures()), gateway, trials }))
  reportApplied(live, replica, gateway)
  const senders = openSenderLimits(config, {
    redis,
    named,
    gateways: identity?.count ?? 1,
    logger,
    rosterWritten: () => void replica.refresh().catch(() => {}),
  })
  const enrolment = new Enrolment(redis)
  const secrets = new DeviceSecrets(live.dir)
  // Kept frames may be understood by another mapping.
  const mappings = new Mappings(redis, live.mappings(), () => redecoding.mappingsChanged())
  const protocolNamed = async (name: string) => mappings.named(name) ?? loadProtocol(name)
  const storing = { ...placing, ...senders.ofIdentity, appender, capacity, holding }
  const storage = new FixStorage(storing)
  const ingest = new Ingest({ ...storing, storage, frameStore, enrolment, secrets, mappings })
  const detector = await detectorFor(config, ingest, logger)
  const redecoding = new Redecoding({
    redis,
    protocolNamed,
    mappings,
    replica,
    secrets,
    storage,
    clock,
    journal,
    maxAgeMs: config.filter.max_age,
    logger,
  })
  live.follow({ roster: (changed) => holding.rosterChanged(changed) })
  live.follow({ roster: (changed) => redecoding.rosterChanged(changed) })
  live.follow({ mappings: () => mappings.fileChanged(live.mappings()) })
  // Held fixes may have a place by the new time; fixes that arrive by it are queued behind them.
  clock.follow(() => holding.rosterChanged(undefined))
  // A shutdown does not wait for them: they write nothing, or `heard.close` waits for it.
  const looks = everySecond(
    {
      'memory of Redis': () => capacity.look(),
      'copies that wait': () => keeper.look(),
      clock: () => clock.look(),
      'enrolment window': () => enrolment.look(),
      'saved mappings': () => mappings.look(),
      'taken ports': retryPorts,
      ...senders.jobs,
      ...heard.jobs,
    },
    jobFaults(logger),
  )
  const writes = everySecond(
    {
      'held fixes': () => holding.look(),
      'kept frames': () => redecoding.look(),
      'counts and marks': () => {
        const now = clock.now()
        return appender.tidy(clock.isInDoubt ? 0 : now)
      },
      arrivals: () => arrivals.write(),
      'watched frames': () => watchedFrames.look(),
      days: () => days.writeIfDue(),
      trials: () => trialBook.write(),
    },
    jobFaults(logger),
  )
  return {
    replica,
    protocolNamed,
    shared: {
      ...senders.ofListeners,
      detector,
      ingest,
      journal,
      logger,
      trials: { book: trialBook, replica },
    },
    redisReadiness: redisReadiness(redis, config.redis),
    problems,
    stopWaiting: () => ingest.close(),
    async close() {
      senders.close()
      redecoding.close()
      void looks.stop()
      // Releasing uses the roster: until it ends, a writer of the roster waits for this gateway.
      const stopped = writes.stop()
      const released = Promise.all([stopped, holding.close()])
      const books = [heard, days, arrivals, watchedFrames, trialBook]
      const written = released.then(() => Promise.all(books.map((book) => book.close())))
      // What the last `tidy` could not count, `close` counts.
      const counted = stopped.then(() => appender.close())
      await within(LAST_WRITES_MS, Promise.all([sharing.stop(), counted, written]))
    },
  }
}

/**
 * Loads the protocols that the gateway listens for. That blocks the process, so no call to Redis may be under way: it would look
 * like a slow one.
 */
export async function loadListened({ listeners }: Config): Promise<void> {
  const names = listeners.map(({ protocol }) => protocol)
  await (names.includes(AUTO) ? loadProtocols() : Promise.all(names.map(loadProtocol)))
}

/** Returns the detector of protocols, if a listener needs one. */
async function detectorFor({ listeners }: Config, ingest: Ingest, logger: Logger): Promise<Detector | undefined> {
  if (!listeners.some(({ protocol }) => protocol === AUTO)) return undefined
  const configured: DetectorOptions['configured'] = (id, { session, ...claim }) => {
    const entry = ingest.provedEntry({ id, ...claim }, session)
    return entry && (entry.protocol ?? '')
  }
  return new Detector({ protocols: await loadProtocols(), configured, onFault: faultLogger(logger) })
}

/** Reports which changes of the roster this gateway applies: a writer of the roster waits for that. */
function reportApplied(live: Live, replica: Replica, gateway: string): void {
  const applied = keys.roster('applied')
  const report = () => void replica.redis.hset(applied, gateway, replica.version).catch(() => {})
  live.follow({ roster: report })
  replica.redis.on('ready', report)
  report()
}

function appenderOptions(replica: Replica, { batch, filter, hold }: Config) {
  const { redis } = replica
  const window = { windowMs: filter.duplicate_window, maxFutureMs: filter.max_future }
  return {
    maxWaitMs: batch.max_wait,
    duplicates: window.windowMs === 0 ? null : new DuplicateFilter(redis, window),
    shares: {
      markBytes: Number.MAX_SAFE_INTEGER,
      heldFixes: Number.MAX_SAFE_INTEGER,
      misunderstoodBytes: Number.MAX_SAFE_INTEGER,
    },
    hold: {
      maxFixesPerDevice: hold.max_fixes_per_device,
      // A fix a second for as long as fixes are held.
      maxFixesConfigured: Math.max(hold.max_fixes_per_device, Math.ceil(hold.max_age / 1000)),
      maxUnknownDevices: Math.ceil(hold.max_unknown_devices / redis.shards.length),
    },
  }
}

function filterOptions({ filter }: Config) {
  return {
    uereM: filter.uere_m,
    defaultAccuracyM: filter.default_accuracy_m,
    maxFutureMs: filter.max_future,
    maxAgeMs: filter.max_age,
    holdsSuspicious: filter.suspicious === 'hold',
  }
}

/** Resolves to the kernel's judgement of its clock, through systemd; undefined if there is no systemd, as in a container. */
async function isClockSynchronised(): Promise<boolean | undefined> {
  try {
    const { stdout } = await promisify(execFile)('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'], {
      timeout: 2000,
    })
    return stdout.trim() === '' ? undefined : stdout.trim() === 'yes'
  } catch {
    return undefined
  }
}

/** No acknowledged fix waits for these writes, only counters and the state of devices. */
const LAST_WRITES_MS = 1500
/** How long the start waits for the roster. Without Redis, the listeners open after this time, and nothing is acknowledged. */
const ROSTER_MS = 2000
const ROSTER_PROBLEM = 'the roster has not been read from Redis yet: nothing is acknowledged'
