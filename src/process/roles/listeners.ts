import { isDeepStrictEqual } from 'node:util'
import { loadProtocol, protocolPorts } from '../../../protocols/index.ts'
import { AUTO } from '../../config/listener.ts'
import { type Config, defaultConfig } from '../../config/schema.ts'
import { listenHttp } from '../../listen/http.ts'
import type { Listener } from '../../listen/listener.ts'
import { listenMqtt } from '../../listen/mqtt.ts'
import type { MqttShared } from '../../listen/mqtt-handlers.ts'
import { listenTcp } from '../../listen/tcp.ts'
import { listenUdp } from '../../listen/udp.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import type { Ports } from '../role.ts'
import type { Live } from './live.ts'

/** What lies behind the listeners. */
interface FramePath extends Pick<MqttShared, 'replica'> {
  readonly shared: Omit<MqttShared, 'replica' | 'protocolNamed'>
}

/** Every port for devices. */
export interface OpenListeners {
  readonly ports: Ports
  close(): Promise<void>
}

/**
 * Opens the listeners of the configuration. A port that it names and that is taken is an error; one of the default listeners
 * is a finding, and is tried again. `earlier`: the ports of an earlier run, for listeners that may choose theirs.
 */
export async function openListeners(live: Live, path: FramePath, earlier: Ports): Promise<OpenListeners> {
  const { listeners: configured } = live.config
  const open = new Opener(live, path, earlier)
  const isUsual = isDeepStrictEqual(configured, defaultConfig(protocolPorts).listeners)
  for (const listener of configured) await (isUsual ? open.unlessTaken(listener) : open.forProtocol(listener))
  await open.broker()
  return open
}

type Configured = Config['listeners'][number]

class Opener implements OpenListeners {
  readonly ports: Ports = {}
  readonly #live: Live
  readonly #path: FramePath
  readonly #earlier: Ports
  readonly #listeners: Listener[] = []
  readonly #taken = new Set<Configured>()
  #retrying: NodeJS.Timeout | undefined

  constructor(live: Live, path: FramePath, earlier: Ports) {
    this.#live = live
    this.#path = path
    this.#earlier = earlier
  }

  async forProtocol(listener: Configured): Promise<void> {
    const { transport } = listener
    const protocol = listener.protocol === AUTO ? undefined : await loadProtocol(listener.protocol)
    metrics.unidentified.inc({ listener: `${transport}/${listener.protocol}` }, 0)
    const name = portName(`${transport}/${listener.protocol}`, this.ports)
    await this.#open(name, listener.port, (port) =>
      LISTEN[transport]({ ...listener, name, port, protocol }, this.#path.shared),
    )
  }

  async unlessTaken(listener: Configured): Promise<void> {
    try {
      await this.forProtocol(listener)
      this.#taken.delete(listener)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
      const { port, protocol, transport } = listener
      this.#taken.add(listener)
      observations.note('port_taken', {
        subject: { listener: `${transport}/${protocol}` },
        evidence: `${transport} port ${port}: ${code}`,
      })
      this.#retrying ??= setInterval(() => void this.#retry(), RETRY_MS)
    }
  }

  async broker(): Promise<void> {
    const { broker } = this.#live.config.mqtt
    if (!broker) return
    const { shared, replica } = this.#path
    const options = { ...shared, replica, protocolNamed: loadProtocol }
    const plain = { ...broker, tls: null }
    await this.#open('mqtt', broker.port, (port) => listenMqtt({ ...plain, name: 'mqtt', port }, options))
    if (broker.tls)
      await this.#open('mqtts', broker.tls_port, (port) => listenMqtt({ ...broker, name: 'mqtts', port }, options))
  }

  async close(): Promise<void> {
    clearInterval(this.#retrying)
    await Promise.all(this.#listeners.map((listener) => listener.close()))
  }

  async #open(name: string, port: number, listen: (port: number) => Promise<Listener>): Promise<void> {
    const listener = await listen(port === 0 ? (this.#earlier[name] ?? 0) : port)
    this.#listeners.push(listener)
    this.ports[name] = listener.port
  }

  async #retry(): Promise<void> {
    for (const listener of this.#taken)
      await this.unlessTaken(listener).catch((error: unknown) => this.#live.logger.error({ err: error }, 'a port'))
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
