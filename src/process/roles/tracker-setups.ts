import { loadProtocols } from '../../../protocols/index.ts'
import { loadSetup } from '../../../protocols/setups.ts'
import type { SetupJson } from '../../admin/schemas/setups.ts'
import type { Config } from '../../config/schema.ts'
import { listenerPorts } from '../listener-ports.ts'

/**
 * Returns a function that lists what points trackers at this server, by protocol, with the ports that listen now. The decoders, which
 * name the devices, are loaded by its first call.
 */
export function trackerSetups(config: Config): () => Promise<SetupJson[]> {
  let loading: Promise<Omit<SetupJson, 'ports'>[]> | undefined
  return async () => {
    const all = await (loading ??= knownSetups())
    const portsOf = await listenerPorts(config)
    return all.map((setup) => {
      const ports = portsOf(setup.protocol).map(([transport, port]) => ({ transport, port }))
      return { ...setup, ports }
    })
  }
}

async function knownSetups(): Promise<Omit<SetupJson, 'ports'>[]> {
  const protocols = await loadProtocols()
  return Promise.all(
    protocols.map(async ({ name, devices }) => {
      const setup = await loadSetup(name)
      if (!setup) return { protocol: name, devices }
      const { by = 'sms', steps, manual, note } = setup
      return { protocol: name, devices, by, steps: [...steps], manual, note }
    }),
  )
}
