import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { protocolsByName } from '../../../protocols/index.ts'
import { within } from '../../async.ts'
import type { Config, Listener as ListenerConfig } from '../../config/schema.ts'
import { createClockWatch } from '../../ingest/clock.ts'
import { createHolding } from '../../ingest/holding.ts'
import { createHeard, createIngest } from '../../ingest/index.ts'
import { createMisunderstood } from '../../ingest/misunderstood.ts'
import { watchRoom } from '../../ingest/room.ts'
import { createStrangers } from '../../ingest/strangers.ts'
import {
  connect,
  createAppender,
  createSeen,
  joinMembers,
  keys,
  type Members,
  noteApplied,
  type Redis,
} from '../../lanes/index.ts'
import { createAdmission } from '../../listen/admission.ts'
import { listenHttp } from '../../listen/http.ts'
import type { Endpoint, Listener, Shared } from '../../listen/listener.ts'
import { listenMqtt } from '../../listen/mqtt.ts'
import { createPressure } from '../../listen/pressure.ts'
import { listenTcp } from '../../listen/tcp.ts'
import { listenUdp } from '../../listen/udp.ts'
import { metrics } from '../../observe/metrics.ts'
import { followRoster } from '../../roster/index.ts'
import type { Role, RoleContext } from '../role.ts'
import type { Live } from './live.ts'
import { redisReadiness } from './readiness.ts'

/** The process that trackers talk to: every listener, the road of their frames, and the near end of the lanes. */
export async function startGateway(live: Live, redisUrl: string, context: RoleContext): Promise<Role> {
  const { config, directory } = live
  const redis = connect(redisUrl, 'gateway', live.logger)
  await within(ROSTER_MS, live.join(followRoster(redis, live.logger)))
  const road = await openRoad(live, redis)
  const { shared, misunderstood } = road
  const listeners: Listener[] = []
  const ports: Record<string, number> = {}

  async function open(name: string, port: number, listen: (port: number) => Promise<Listener>): Promise<void> {
    const listener = await listen(port === 0 ? (context.ports[name] ?? 0) : port)
    listeners.push(listener)
    ports[name] = listener.port
  }

  for (const listener of config.listeners) {
    const name = portName(`${listener.transport}/${listener.protocol}`, ports)
    await open(name, listener.port, (port) => LISTEN[listener.transport](endpoint(listener, port), shared))
  }
  const { broker } = config.mqtt
  if (broker) {
    const admitsUnknown = config.hold.unknown
    const complete = () => live.complete
    const mqtt = { ...shared, protocols: protocolsByName, complete, directory, misunderstood, admitsUnknown }
    await open('mqtt', broker.port, (port) => listenMqtt({ host: broker.host, port }, mqtt))
  }
  return {
    ports,
    readiness: async () => {
      const { problems } = await road.redisReadiness()
      const all = [...problems, ...road.problems()]
      return { ok: all.length === 0, problems: all }
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()))
      await road.close()
      await live.close()
      redis.disconnect()
    },
  }
}

/** The second listener for a protocol over the same transport is `tcp/teltonika#2`. */
function portName(name: string, ports: Readonly<Record<string, number>>): string {
  let number = 1
  const numbered = () => (number === 1 ? name : `${name}#${number}`)
  while (numbered() in ports) number++
  return numbered()
}

/** All between listeners and lanes. */
async function openRoad(live: Live, redis: Redis) {
  const { config, logger } = live
  // Around a private Redis there is no other gateway.
  const members =
    config.redis.url === null ? undefined : joinMembers(redis, keys.gateways, () => seen?.reset(Date.now()))
  const seen = seenOf(config, () => !members || members.count === 1)
  const appenderOptions = { maxWaitMs: config.batch.max_wait, seen, hold: holdBounds(config) }
  const appender = createAppender(redis, appenderOptions)
  const problems = () => [
    ...room.problems,
    ...(clock.alarm ? [CLOCK_PROBLEM] : []),
    ...(live.complete ? [] : [ROSTER_PROBLEM]),
  ]
  const misunderstood = createMisunderstood(redis)
  const room = watchRoom(redis, { stopAt: config.redis.stop_at, maxParked: config.parked.max_positions, logger })
  const filter = filterOptions(config)
  const judge = () => ({ directory: live.directory(), filter, hold: config.hold })
  const complete = () => live.complete
  const holding = createHolding({ redis, appender: appenderOptions, complete, judge, logger })
  live.follow(() => holding.configured())
  const clock = createClockWatch((alarm, devices) => {
    metrics.clockAlarm.set(alarm ? 1 : 0)
    if (alarm) logger.error({ reason: 'clock' }, `${devices} devices are ahead of our clock: ${CLOCK_PROBLEM}`)
    else logger.info('our clock agrees with the devices again')
  })
  const gateway = randomUUID()
  const heard = createHeard(redis, problems, gateway)
  noteRoster(live, redis, gateway)
  const strangers = createStrangers(config.hold.max_unknown_devices)
  const ingest = createIngest({ complete, judge, appender, heard, holding, clock, room, strangers, logger })
  const admission = createAdmission(config.limits)
  if (members) await letOthersNotice(members)
  return {
    shared: { ingest, heard, admission, pressure: createPressure(), limits: config.limits, logger },
    misunderstood: misunderstood.keep,
    redisReadiness: redisReadiness(redis, config.redis, logger),
    problems,
    async close() {
      room.stop()
      const last = [
        // What is released goes by the roster: until then who writes it waits for this gateway.
        holding.close().then(() => heard.close()),
        appender.close(),
        misunderstood.close(),
        members?.stop() ?? Promise.resolve(),
      ]
      await within(LAST_WRITES_MS, Promise.all(last))
    },
  }
}

/** Says what of the roster is in effect here: who writes it waits for that. */
function noteRoster(live: Live, redis: Redis, gateway: string): void {
  const note = () => void noteApplied(redis, gateway, live.loaded().edits.at).catch(() => {})
  live.follow(note)
  redis.on('ready', note)
  note()
}

/** Nothing that was acknowledged waits for them: only counts and what was heard. */
const LAST_WRITES_MS = 1500
/** Without Redis the listeners open all the same, and nothing is acknowledged. */
const ROSTER_MS = 2000
const ROSTER_PROBLEM = 'the roster has not been read from Redis yet: nothing is acknowledged'
const CLOCK_PROBLEM = 'the clock of this machine must be wrong, nothing is acknowledged: set it (NTP)'

/** Other gateways have to know of this one before it stores anything: what they know of newest fixes is of their own. */
async function letOthersNotice(members: Members): Promise<void> {
  for (let tries = 0; members.count === undefined && tries < 20; tries++) await sleep(50)
  if (members.count !== 1) await sleep(1500)
}

function seenOf({ filter }: Config, alone: () => boolean) {
  if (filter.duplicate_window === 0) return null
  return createSeen({ windowMs: filter.duplicate_window, maxFutureMs: filter.max_future, alone })
}

function holdBounds({ hold }: Config) {
  return { maxFixesPerDevice: hold.max_fixes_per_device, maxUnknownDevices: hold.max_unknown_devices }
}

const LISTEN = { tcp: listenTcp, udp: listenUdp, http: listenHttp } satisfies Record<
  ListenerConfig['transport'],
  (endpoint: Endpoint, shared: Shared) => Promise<Listener>
>

function endpoint({ host, protocol }: ListenerConfig, port: number): Endpoint {
  const known = protocolsByName.get(protocol)
  if (!known) throw new Error(`no protocol ${protocol}`)
  return { host, port, protocol: known }
}

function filterOptions({ filter }: Config) {
  return {
    uereM: filter.uere_m,
    defaultAccuracyM: filter.default_accuracy_m,
    maxFutureMs: filter.max_future,
    maxAgeMs: filter.max_age,
  }
}
