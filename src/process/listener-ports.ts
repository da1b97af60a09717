import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AUTO } from '../config/listener.ts'
import type { Config } from '../config/schema.ts'
import type { Ports } from './role-process.ts'

/** A port that is listened on: `tcp`, 5027. */
export type ListenerPort = readonly [transport: string, port: number]

/**
 * Resolves to the configured ports for a protocol; if there are none, the ports for all protocols (`auto`). Port 0 means the
 * port that `start` has chosen; it is left out if that is unknown.
 */
export async function listenerPorts({ data_dir, listeners }: Config): Promise<(protocol: string) => ListenerPort[]> {
  const chosen = (await readPorts(data_dir).catch(() => undefined)) ?? {}
  const portsOf = (name: string) =>
    listeners
      .filter(({ protocol }) => protocol === name)
      .map(({ port, transport }) => [transport, port || (chosen[`${transport}/${name}`] ?? 0)] as const)
      .filter(([, port]) => port > 0)
  return (protocol) => {
    const own = portsOf(protocol)
    return own.length > 0 ? own : portsOf(AUTO)
  }
}

/**
 * Resolves to the listening ports that `start` has written; undefined if the file is missing, or is not JSON after a loss of
 * power.
 */
export async function readPorts(dataDir: string): Promise<Ports | undefined> {
  const file = join(dataDir, 'ports.json')
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Ports
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
