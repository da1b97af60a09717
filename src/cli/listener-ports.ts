import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { protocolPorts } from '../../protocols/index.ts'
import { loadConfig } from '../config/files.ts'
import { AUTO } from '../config/listener.ts'

/** A port that is listened on: `tcp`, 5027. */
export type ListenerPort = readonly [transport: string, port: number]

/**
 * Reads which ports the configuration in a folder has for a protocol, or for all where it has none for that alone; one that may be
 * any is as `start` has chosen it. @throws ConfigError
 */
export async function listenerPorts(dir: string): Promise<(protocol: string) => ListenerPort[]> {
  const { config } = await loadConfig(dir, protocolPorts)
  const text = await readFile(join(config.data_dir, 'ports.json'), 'utf8').catch(() => '{}')
  const chosen = JSON.parse(text) as Record<string, number>
  const portsOf = (name: string) =>
    config.listeners
      .filter(({ protocol }) => protocol === name)
      .map(({ port, transport }) => [transport, port || (chosen[`${transport}/${name}`] ?? 0)] as const)
      .filter(([, port]) => port > 0)
  return (protocol) => {
    const own = portsOf(protocol)
    return own.length > 0 ? own : portsOf(AUTO)
  }
}
