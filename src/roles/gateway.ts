import { protocolsByName } from '../../protocols/index.ts'
import type { Config, Listener as ListenerConfig } from '../config/schema.ts'
import { createHeard, createIngest } from '../ingest/index.ts'
import { createMisunderstood } from '../ingest/misunderstood.ts'
import { connect, createAppender } from '../lanes/index.ts'
import { createAdmission } from '../listen/admission.ts'
import { listenHttp } from '../listen/http.ts'
import type { Endpoint, Listener, Shared } from '../listen/listener.ts'
import { listenMqtt } from '../listen/mqtt.ts'
import { createPressure } from '../listen/pressure.ts'
import { listenTcp } from '../listen/tcp.ts'
import { listenUdp } from '../listen/udp.ts'
import type { Role, RoleContext } from '../run/role.ts'
import type { Live } from './live.ts'
import { redisReadiness } from './readiness.ts'

/** The process that trackers talk to: every listener, the road of their frames, and the near end of the lanes. */
export async function startGateway(live: Live, redisUrl: string, context: RoleContext): Promise<Role> {
  const { config, directory, logger } = live
  const redis = connect(redisUrl, 'gateway', logger)
  const appender = createAppender(redis, config.batch.max_wait)
  const heard = createHeard(redis)
  const misunderstood = createMisunderstood(redis)
  const ingest = createIngest({ directory, appender, heard, filter: filterOptions(config), logger })
  const admission = createAdmission(config.limits)
  const shared = { ingest, heard, admission, pressure: createPressure(), limits: config.limits, logger }
  const listeners: Listener[] = []
  const ports: Record<string, number> = {}

  async function open(name: string, port: number, listen: (port: number) => Promise<Listener>): Promise<void> {
    const listener = await listen(port === 0 ? (context.ports[name] ?? 0) : port)
    listeners.push(listener)
    ports[name] = listener.port
  }

  for (const listener of config.listeners) {
    const name = `${listener.transport}/${listener.protocol}`
    await open(name, listener.port, (port) => LISTEN[listener.transport](endpoint(listener, port), shared))
  }
  const { broker } = config.mqtt
  if (broker) {
    const mqtt = { ...shared, protocols: protocolsByName, directory, misunderstood: misunderstood.keep }
    await open('mqtt', broker.port, (port) => listenMqtt({ host: broker.host, port }, mqtt))
  }
  return {
    ports,
    readiness: redisReadiness(redis, config.redis, logger),
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()))
      await Promise.all([appender.close(), heard.close(), misunderstood.close(), live.close()])
      redis.disconnect()
    },
  }
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
