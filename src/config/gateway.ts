import { addressAt, companyIds, type ListenAddress, portConflicts, readDocument } from './document.ts'
import { child, type Node, textAt } from './node.ts'
import type { Mistake } from './problem.ts'
import { type Config, configSchema, defaultConfig, type Protocols } from './schema.ts'

/** A gateway.yaml that was read. */
export interface Gateway {
  /** Absent where there are mistakes. */
  readonly config?: Config
  /** The ids of all companies, also of those with mistakes; absent where the file is not YAML. */
  readonly companyIds?: ReadonlySet<string>
  readonly mistakes: readonly Mistake[]
}

/** Reads gateway.yaml; an empty one has every default. */
export function readGateway(text: string, protocols: Protocols): Gateway {
  const { root, value, mistakes } = readDocument(text, configSchema(protocols), (all) => [
    ...portConflicts(addresses(all, protocols)),
    ...companyIds(all).repeated,
  ])
  return { config: value, companyIds: root && companyIds(root).ids, mistakes }
}

/** Every address that the processes of one machine listen on, also in a file with other mistakes. */
function addresses(root: Node, protocols: Protocols): ListenAddress[] {
  const usual = defaultConfig(protocols)
  const tracking = child(root, 'tracking')
  const broker = child(child(root, 'mqtt'), 'broker')
  const usesEmbedded = !textAt(tracking, 'base_url')
  return [
    ...listenerAddresses(root, usual.listeners),
    ...(broker?.kind === 'leaf' ? [] : [addressAt(broker, 'mqtt.broker', { host: '0.0.0.0', port: 1883 })]),
    addressAt(child(root, 'admin'), 'admin', usual.admin),
    ...(usesEmbedded ? [addressAt(child(tracking, 'listen'), 'tracking.listen', usual.tracking.listen)] : []),
    addressAt(child(root, 'monitor'), 'monitor', usual.monitor),
  ]
}

function listenerAddresses(root: Node, usual: Config['listeners']): ListenAddress[] {
  const listeners = child(root, 'listeners')
  if (listeners?.kind !== 'sequence')
    return usual.map((listener, index) => ({ ...listener, key: keyOf(index), family: familyOf(listener.transport) }))
  return listeners.items.map((listener, index) => ({
    ...addressAt(listener, keyOf(index), { host: '0.0.0.0', port: 0 }),
    family: familyOf(textAt(listener, 'transport')),
  }))
}

function keyOf(index: number): string {
  return `listeners[${index}]`
}

function familyOf(transport: string | undefined): ListenAddress['family'] {
  return transport === 'udp' ? 'udp' : 'tcp'
}
