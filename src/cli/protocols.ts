import { loadProtocols, protocolPorts } from '../../protocols/index.ts'
import { loadConfig } from '../config/files.ts'
import { listenerPorts } from '../process/listener-ports.ts'
import { printExact, table } from './output.ts'

interface ProtocolsOptions {
  readonly json?: boolean
  /** The configuration folder whose ports are shown in place of the usual ones. */
  readonly config?: string
}

/** `waybridge protocols`: a table, or JSON. @throws ConfigError */
export async function protocolsCommand({ json, config }: ProtocolsOptions): Promise<void> {
  if (config !== undefined) return printExact(await configuredProtocols(config, json))
  printExact(json ? [JSON.stringify(await protocolList(), null, 2)] : table(HEADS, await protocolRows()))
}

/** The protocols that the listeners of a configuration understand, with their ports. */
async function configuredProtocols(dir: string, json?: boolean): Promise<string[]> {
  const portsOf = await listenerPorts((await loadConfig(dir, protocolPorts)).config)
  const known = (await protocolList())
    .map((each) => ({ ...each, ports: portsOf(each.name).filter(([transport]) => transport in each.ports) }))
    .filter(({ ports }) => ports.length > 0)
  const list = known.map((each) => ({ ...each, ports: Object.fromEntries(each.ports) }))
  if (json) return [JSON.stringify(list, null, 2)]
  const rows = known.map(({ name, devices, ports, acknowledges }) => {
    const shown = ports.map(([transport, port]) => `${transport} ${port}`).join(', ')
    return [name, shown, ACKNOWLEDGED[acknowledges], devices]
  })
  return table(['name', 'ports', 'acknowledged', 'devices'], rows)
}

/** Returns each protocol with its devices, its transports and usual ports, and what it acknowledges. */
async function protocolList() {
  return (await loadProtocols()).map(({ name, devices, tcp, udp, http, acknowledges = 'nothing' as const }) => ({
    name,
    devices,
    ports: { tcp: tcp?.port, udp: udp?.port, http: http?.port, mqtt: MQTT_PORT },
    acknowledges,
  }))
}

const MQTT_PORT = 1883

/** Resolves to the rows of a table: name, usual ports, what is acknowledged, devices. */
export async function protocolRows(): Promise<string[][]> {
  return (await protocolList()).map(({ name, devices, ports, acknowledges }) => {
    const usual = Object.entries(ports).flatMap(([transport, port]) => (port ? [`${transport} ${port}`] : []))
    return [name, usual.join(', '), ACKNOWLEDGED[acknowledges], devices]
  })
}

const ACKNOWLEDGED = { fixes: 'every fix', some: 'fixes in some kinds of frames', nothing: 'nothing' } as const

const HEADS = ['name', 'usual ports', 'acknowledged', 'devices']
