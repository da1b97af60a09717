import { Command } from 'commander'
import { ConfigError } from './config/problem.ts'
import { explained, UserError } from './run/errors.ts'

/** Runs a command line to the end of the process. Exit codes: 0 well, 1 the user's input is wrong, 2 a fault of ours. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync(argv)
  } catch (error) {
    const known = explained(error)
    const expected = known instanceof UserError || known instanceof ConfigError
    process.stderr.write(`${expected ? known.message : known instanceof Error ? known.stack : String(known)}\n`)
    process.exit(expected ? 1 : 2)
  }
}

/** Each command is one line to what does it; what it does is loaded when it is called. */
function program(): Command {
  const waybridge = new Command('waybridge')
    .description('GPS telematics gateway: what trackers send becomes positions at the tracking API, and none is lost.')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 1))
    .showSuggestionAfterError()

  const configured = (name: string, description: string) =>
    waybridge
      .command(name)
      .description(description)
      .option('--config <dir>', 'the folder with gateway.yaml, devices.yaml and routes.csv', 'config')

  configured('start', 'run everything: private Redis, tracking service, worker(s), admin port, gateway').action(
    async ({ config }: ConfigOption) => exit(await (await import('./roles/start.ts')).start(config)),
  )
  for (const role of ['gateway', 'worker', 'admin', 'tracking'] as const)
    configured(role, ROLES[role]).action(async ({ config }: ConfigOption) =>
      (await import('./roles/index.ts')).run(role, config),
    )
  waybridge
    .command('decode')
    .description('say what a frame says')
    .option('--protocol <name>', 'who speaks')
    .option('--hex <hex>', 'the bytes of a stream')
    .option('--text <text>', 'the text of a stream')
    .option('--jsonl', 'read frames as JSON lines from standard input, answer a line for each')
    .option('--lenient', 'a wrong checksum is no error')
    .action(async (options) => exit(await (await import('./inspect.ts')).decodeCommand(options)))
  configured('check', 'validate the configuration').action(async ({ config }: ConfigOption) =>
    exit(await (await import('./inspect.ts')).checkCommand(config)),
  )
  waybridge
    .command('protocols')
    .description('list what trackers may speak, and where')
    .action(async () => (await import('./inspect.ts')).protocolsCommand())
  waybridge
    .command('simulate')
    .description('send vans that drive plausible routes and speak the wire protocols')
    .option('--target <host>', 'where the gateway is', '127.0.0.1')
    .option('--vans <n>', 'how many')
    .option('--interval <duration>', 'between two fixes of a van')
    .option('--protocols <names>', 'comma-separated: teltonika,gt06,mqtt …')
    .option('--duration <duration>', 'how long new fixes are sent')
    .option('--port <name=port...>', 'where a protocol listens, if not on its usual port')
    .option('--seed <n>', 'of the routes')
    .option('--devices', 'only print a devices.yaml for these vans')
    .action(async (options) => exit(await (await import('./simulate/simulate.ts')).simulateCommand(options)))
  waybridge
    .command('demo')
    .description('everything in one go with simulated vans, and proof that nothing was lost')
    .option('--vans <n>', 'how many')
    .option('--seconds <n>', 'how long they drive')
    .option('--protocols <names>', 'comma-separated: teltonika,gt06,mqtt …')
    .action(async (options) => exit(await (await import('./simulate/demo.ts')).demoCommand(options)))
  return waybridge
}

interface ConfigOption {
  readonly config: string
}

const ROLES = {
  gateway: 'only the gateway: what trackers talk to',
  worker: 'only a worker: pushes what waits to the tracking API',
  admin: 'only the admin port',
  tracking: 'only the tracking service',
} as const

function exit(code: number): never {
  process.exit(code)
}
