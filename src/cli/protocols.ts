import { protocols } from '../../protocols/index.ts'
import { printExact } from './output.ts'

/** `waybridge protocols`: a table, or JSON. */
export function protocolsCommand({ json }: { readonly json?: boolean }): void {
  printExact(json ? [JSON.stringify(protocolList(), null, 2)] : protocolTable())
}

/** Of each protocol: its devices, its transports with their usual ports, and what it acknowledges. */
function protocolList() {
  return protocols.map(({ name, devices, tcp, udp, http, acknowledges }) => ({
    name,
    devices,
    ports: { tcp: tcp?.port, udp: udp?.port, http: http?.port, mqtt: MQTT_PORT },
    acknowledges,
  }))
}

const MQTT_PORT = 1883

/** The rows of a table: name, usual ports, what is acknowledged, devices. */
export function protocolRows(): string[][] {
  return protocolList().map(({ name, devices, ports, acknowledges }) => {
    const usual = Object.entries(ports).flatMap(([transport, port]) => (port ? [`${transport} ${port}`] : []))
    return [name, usual.join(', '), ACKNOWLEDGED[acknowledges], devices]
  })
}

const ACKNOWLEDGED = { fixes: 'every fix', some: 'fixes in some kinds of frames', nothing: 'nothing' } as const

function protocolTable(): string[] {
  const table = [['NAME', 'USUAL PORTS', 'ACKNOWLEDGED', 'DEVICES'], ...protocolRows()]
  const widths = table[0].slice(0, -1).map((_, column) => Math.max(...table.map((row) => row[column].length)))
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}
