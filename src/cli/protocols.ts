import { protocols } from '../../protocols/index.ts'

/** `waybridge protocols`: a table of name, transports with their usual ports, devices. */
export function protocolsCommand(): void {
  const rows = protocols.map(({ name, tcp, udp, http, devices }) => {
    const ports = Object.entries({ tcp, udp, http }).flatMap(([transport, at]) =>
      at ? [`${transport} ${at.port}`] : [],
    )
    return [name, ports.length > 0 ? ports.join(', ') : 'mqtt 1883', devices]
  })
  const table = [['NAME', 'USUAL PORTS', 'DEVICES'], ...rows]
  const width = (column: number) => Math.max(...table.map((row) => row[column].length))
  for (const [name, ports, devices] of table)
    process.stdout.write(`${name.padEnd(width(0))}  ${ports.padEnd(width(1))}  ${devices}\n`)
}
