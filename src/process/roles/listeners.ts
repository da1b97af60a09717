import { isDeepStrictEqual } from 'node:util'
import { protocolPorts } from '../../../protocols/index.ts'
import { AUTO } from '../../config/listener.ts'
import { type Config, defaultConfig } from '../../config/schema.ts'
import { listenHttp } from '../../gateway/wire/http.ts'
import { type Endpoint, freePort, type Listener } from '../../gateway/wire/listener.ts'
import { listenMqtt } from '../../gateway/wire/mqtt.ts'
import { type MqttBridge, openBridge } from '../../gateway/wire/mqtt-bridge.ts'
import type { MqttShared } from '../../gateway/wire/mqtt-handlers.ts'
import { listenTcp } from '../../gateway/wire/tcp.ts'
import { listenUdp } from '../../gateway/wire/udp.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { say } from '../../texts/text.ts'
import { installationId } from '../data-dir.ts'
import type { InheritedSockets } from '../held-sockets.ts'
import type { Ports } from '../role-process.ts'
import type { Live } from './live.ts'

/** The parts behind the listeners. */
interface FramePath extends Pick<MqttShared, 'replica' | 'protocolNamed'> {
  readonly shared: Omit<MqttShared, 'replica' | 'protocolNamed'>
}

/** Every port for devices, and what subscribes to brokers. */
export interface OpenListeners {
  readonly ports: Ports
  /** Tries ports that are taken again, every five seconds; call it once a second. */
  retry(): Promise<void>
  close(): Promise<void>
}

/** The ports that a gateway has beside those of its configuration, and which gateways share them. */
interface PortsOfStart {
  /** The ports that gateways of this `start` opened before: a listener with port 0 takes its port from here. */
  readonly earlier: Ports
  readonly inherited: InheritedSockets
  /** Whether several gateways share the ports. */
  readonly isShared: boolean
  /** The number of this gateway: gateway 0 chooses the ports, and the others open the same ones. */
  readonly slot: number
}

/**
 * Opens the listeners of the configuration. A port that it names and that is taken is an error; one of the default listeners
 * is a finding, and is tried again.
 */
export async function openListeners(live: Live, path: FramePath, ofStart: PortsOfStart): Promise<OpenListeners> {
  const { listeners: configured } = live.config
  const open = new Opener(live, path, ofStart)
  const isUsual = isDeepStrictEqual(configured, defaultConfig(protocolPorts).listeners)
  for (const listener of configured) await (isUsual ? open.unlessTaken(listener) : open.forProtocol(listener))
  await open.broker()
  await open.bridges()
  return open
}

type Configured = Config['listeners'][number]
/** `transport`: which kind of port it is. */
type Named = Endpoint & { readonly name: string; readonly transport: 'tcp' | 'udp' }

class Opener implements OpenListeners {
  readonly ports: Ports = {}
  readonly #live: Live
  readonly #path: FramePath
  readonly #ofStart: PortsOfStart
  readonly #listeners: Pick<Listener | MqttBridge, 'close'>[] = []
  readonly #taken = new Set<Configured>()
  /** By `performance.now()`. */
  #retryAt = 0

  constructor(live: Live, path: FramePath, ofStart: PortsOfStart) {
    this.#live = live
    this.#path = path
    this.#ofStart = ofStart
  }

  async forProtocol(listener: Configured): Promise<void> {
    const { transport } = listener
    const protocol = listener.protocol === AUTO ? undefined : await this.#path.protocolNamed(listener.protocol)
    metrics.unidentified.inc({ listener: `${transport}/${listener.protocol}` }, 0)
    const name = portName(`${transport}/${listener.protocol}`, this.ports)
    const endpoint = { ...listener, name, transport: transport === 'udp' ? 'udp' : 'tcp' } as const
    await this.#open(endpoint, (at) => LISTEN[transport]({ ...at, protocol }, this.#path.shared))
  }

  async unlessTaken(listener: Configured): Promise<void> {
    const name = `${listener.transport}/${listener.protocol}`
    const { earlier, slot } = this.#ofStart
    if (slot > 0 && !(name in earlier)) return
    try {
      await this.forProtocol(listener)
      this.#taken.delete(listener)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
      const { port, transport } = listener
      this.#taken.add(listener)
      observations.note('port_taken', {
        subject: { listener: name },
        evidence: say('{} port {}: {}', transport, port, code),
      })
      this.#retryAt = performance.now() + RETRY_MS
    }
  }

  async broker(): Promise<void> {
    const { broker } = this.#live.config.mqtt
    if (!broker) return
    const { shared, replica, protocolNamed } = this.#path
    const options = { ...shared, replica, protocolNamed }
    const plain = { ...broker, name: 'mqtt', transport: 'tcp', tls: null } as const
    await this.#open(plain, (at) => listenMqtt(at, options))
    const secure = { ...broker, name: 'mqtts', transport: 'tcp', port: broker.tls_port } as const
    if (broker.tls) await this.#open(secure, (at) => listenMqtt(at, options))
  }

  /** Bridges without a group to share the messages in are opened by the first gateway alone. */
  async bridges(): Promise<void> {
    const { data_dir, mqtt } = this.#live.config
    const { slot } = this.#ofStart
    const own = mqtt.bridges.filter(({ shared_group }) => slot === 0 || shared_group !== undefined)
    if (own.length === 0) return
    const { id: installation } = await installationId(data_dir, this.#live.logger)
    const { protocolNamed } = this.#path
    const shared = { ...this.#path.shared, protocolNamed, gateway: { installation, slot } }
    for (const bridge of own) this.#listeners.push(await openBridge(bridge, shared))
  }

  async retry(): Promise<void> {
    if (performance.now() < this.#retryAt) return
    for (const listener of this.#taken)
      await this.unlessTaken(listener).catch((error: unknown) => this.#live.logger.error({ err: error }, 'a port'))
  }

  async close(): Promise<void> {
    this.#taken.clear()
    await Promise.all(this.#listeners.map((listener) => listener.close()))
  }

  /** A port that is to be shared, and that no gateway of this `start` has opened before, must be free. */
  async #open<At extends Named>(endpoint: At, listen: (at: At) => Promise<Listener>): Promise<void> {
    const { earlier, inherited, isShared } = this.#ofStart
    const { name } = endpoint
    const port = endpoint.port || (earlier[name] ?? 0)
    const isOurs = port !== 0 && port === earlier[name]
    const free = isShared && !isOurs ? await freePort({ ...endpoint, port }) : port
    const fds = inherited.take(endpoint)
    const listener = await listen({ ...endpoint, port: free, isShared, fds })
    this.#listeners.push(listener)
    this.ports[name] = listener.port
  }
}

/** The second listener for a protocol over the same transport is `tcp/teltonika#2`. */
function portName(name: string, ports: Ports): string {
  let numbered = name
  for (let number = 2; numbered in ports; number++) numbered = `${name}#${number}`
  return numbered
}

const LISTEN = { tcp: listenTcp, udp: listenUdp, http: listenHttp }
const RETRY_MS = 5000
