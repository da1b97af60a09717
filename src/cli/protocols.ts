import { loadProtocols } from '../../protocols/index.ts'
import { printExact, table } from './output.ts'

/** `waybridge protocols`: a table, or JSON. */
export async function protocolsCommand({ json }: { readonly json?: boolean }): Promise<void> {
  printExact(json ? [JSON.stringify(await protocolList(), null, 2)] : table(HEADS, await protocolRows()))
}

/** Of each protocol: its devices, its transports with their usual ports, and what it acknowledges. */
async function protocolList() {
  return (await loadProtocols()).map(({ name, devices, tcp, udp, http, acknowledges }) => ({
    name,
    devices,
    ports: { tcp: tcp?.port, udp: udp?.port, http: http?.port, mqtt: MQTT_PORT },
    acknowledges,
  }))
}

const MQTT_PORT = 1883

/** The rows of a table: name, usual ports, what is acknowledged, devices. */
export async function protocolRows(): Promise<string[][]> {
  return (await protocolList()).map(({ name, devices, ports, acknowledges }) => {
    const usual = Object.entries(ports).flatMap(([transport, port]) => (port ? [`${transport} ${port}`] : []))
    return [name, usual.join(', '), ACKNOWLEDGED[acknowledges], devices]
  })
}

const ACKNOWLEDGED = { fixes: 'every fix', some: 'fixes in some kinds of frames', nothing: 'nothing' } as const

const HEADS = ['name', 'usual ports', 'acknowledged', 'devices']
