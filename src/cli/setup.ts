import { loadProtocol, protocolPorts } from '../../protocols/index.ts'
import { loadSetup, protocolsWithSetup } from '../../protocols/setups.ts'
import { unknownName } from '../config/problem.ts'
import { UserError } from '../errors.ts'

interface SetupOptions {
  readonly host: string
  readonly port?: string
  readonly apn?: string
  readonly user?: string
  readonly password?: string
}

/** `waybridge setup`: prints what points a tracker at this server. @returns the exit code @throws UserError */
export async function setupCommand(name: string, options: SetupOptions): Promise<number> {
  const protocol = await loadProtocol(name)
  if (!protocol) {
    const names = protocolPorts.map((each) => each.name)
    throw new UserError(`setup: ${unknownName('protocol', name, names)}`)
  }
  const usual = (protocol.tcp ?? protocol.udp ?? protocol.http)?.port ?? ''
  const setup = await loadSetup(name)
  if (!setup)
    throw new UserError(
      `setup: the manual of ${name} is not known here. Set server ${options.host} and port ${usual} as the vendor says. ` +
        `Known: ${protocolsWithSetup.join(', ')}.`,
    )
  const values = { apn: 'internet', user: '', password: '', ...options, port: options.port ?? `${usual}` }
  const steps = setup.steps.map((step) => step.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => values[key]))
  process.stdout.write(`${protocol.devices} (${setup.manual})\n\n${steps.join('\n')}\n`)
  if (setup.note !== undefined) process.stdout.write(`\n${setup.note}\n`)
  return 0
}
