import { loadProtocol, protocolPorts } from '../../protocols/index.ts'
import { loadSetup, protocolsWithSetup } from '../../protocols/setups.ts'
import { loadConfig } from '../config/files.ts'
import { integer } from '../config/leaves.ts'
import { unknownName } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import { listenerPorts } from '../process/listener-ports.ts'

interface SetupOptions {
  readonly host: string
  readonly port?: string
  /** The configuration folder whose ports are used in place of the usual ones. */
  readonly config?: string
  readonly apn?: string
  readonly user?: string
  readonly password?: string
}

/** `waybridge setup`: prints what points a tracker at this server. @returns the exit code @throws UserError */
export async function setupCommand(name: string, { config, ...options }: SetupOptions): Promise<number> {
  const { host, port } = options
  if (host.trim() === '') throw new UserError('--host: empty; give the name or address of this server.')
  if (port !== undefined && !PORT.safeParse(port).success)
    throw new UserError(`--port ${port}: expected a port from 1 to 65535.`)
  const protocol = await loadProtocol(name)
  if (!protocol) {
    const names = protocolPorts.map((each) => each.name)
    throw new UserError(`setup: ${unknownName('protocol', name, names)}`)
  }
  const usual =
    config === undefined || options.port !== undefined
      ? (protocol.tcp ?? protocol.udp ?? protocol.http)?.port
      : await portIn(config, name)
  const setup = await loadSetup(name)
  if (!setup)
    throw new UserError(
      `setup: the manual of ${name} is not known here. Set server ${options.host} and port ${options.port ?? usual} as the vendor says. ` +
        `Known: ${protocolsWithSetup.join(', ')}.`,
    )
  const values = { apn: 'internet', user: '', password: '', ...options, port: options.port ?? `${usual}` }
  const steps = setup.steps.map((step) => step.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => values[key]))
  process.stdout.write(`${protocol.devices} (${setup.manual})\n\n${steps.join('\n')}\n`)
  if (setup.note !== undefined) process.stdout.write(`\n${setup.note}\n`)
  return 0
}

/** @throws UserError if no listener is for the protocol, ConfigError */
async function portIn(dir: string, protocol: string): Promise<number> {
  const [[, port] = []] = (await listenerPorts((await loadConfig(dir, protocolPorts)).config))(protocol)
  if (port !== undefined) return port
  throw new UserError(
    `setup: ${dir} has no listener for ${protocol}: add one to listeners in gateway.yaml, or give --port.`,
  )
}

const PORT = integer(1, 65_535)
