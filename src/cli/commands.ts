import { Command } from 'commander'
import { ConfigError } from '../config/problem.ts'
import { explained, UserError } from '../errors.ts'

/** Runs a command line to the end of the process. Exit codes: 0 well, 1 the user's input is wrong, 2 a fault of ours. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', endUnlessNobodyReads)
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
      .option('--config <dir>', `the folder with ${name === 'tracking' ? TRACKING_FILES : FILES}`, 'config')

  const asking = (name: string, description: string, parent = waybridge) =>
    parent
      .command(name)
      .description(description)
      .option('--url <url>', 'of the admin port (WAYBRIDGE_ADMIN_URL); without it, what the configuration says')
      .option('--token <token>', 'of the admin port (WAYBRIDGE_ADMIN_TOKEN)')
      .option('--config <dir>', 'the folder with gateway.yaml (default: "config")')

  configured('start', 'run everything: private Redis, tracking service, worker(s), admin port, gateway').action(
    async ({ config }: ConfigOption) => exit(await (await import('../process/start.ts')).start(config)),
  )
  for (const role of ['gateway', 'worker', 'admin', 'tracking'] as const)
    configured(role, ROLES[role]).action(async ({ config }: ConfigOption) =>
      (await import('../process/roles/index.ts')).run(role, config),
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
  asking('status', 'say how it stands: what waits, is parked and held, and whether the tracking service takes it')
    .option('--json', 'as the admin port answers it')
    .action(async (options) => exit(await (await import('./status.ts')).statusCommand(options)))
  asking('why <device>', 'say in one sentence what becomes of the fixes of a device: its id or name').action(
    async (device: string, options) => exit(await (await import('./why.ts')).whyCommand(device, options)),
  )
  asking('positions', 'print what the tracking service has of a route, as JSON')
    .requiredOption('--company <id>', 'whose route it is')
    .requiredOption('--route <id>', 'which')
    .requiredOption('--from <time>', 'unix seconds, RFC 3339, or local as in "2026-11-20 06:00"')
    .option('--to <time>', 'likewise; without it, now')
    .option('--csv', 'as CSV, times in UTC')
    .option('--geojson', 'as GeoJSON: the track and its points, times in UTC')
    .action(async (options) => exit(await (await import('./positions.ts')).positionsCommand(options)))
  const routes = waybridge.command('routes').description('who drives what: a file in the form of routes.csv')
  for (const act of ['check', 'put'] as const) {
    const command = asking(`${act} <file>`, ROUTES[act], routes)
      .option('--company <id>', "whose routes these are, where the file's devices do not say it")
      .option('--from <time>', "all lines that begin from here on; without it, from the file's first day")
      .option('--until <time>', "and before this; without it, to the end of the file's last day")
    if (act === 'put') command.option('--force', 'also where most devices would lose their route')
    command.action(async (file: string, options) =>
      exit(await (await import('./routes.ts')).routesCommand(act, file, options)),
    )
  }
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
    .action(async (options) => exit(await (await import('../simulate/simulate.ts')).simulateCommand(options)))
  waybridge
    .command('demo')
    .description('everything in one go with simulated vans, and proof that nothing was lost')
    .option('--vans <n>', 'how many')
    .option('--seconds <n>', 'how long they drive')
    .option('--protocols <names>', 'comma-separated: teltonika,gt06,mqtt …')
    .action(async (options) => exit(await (await import('../simulate/demo.ts')).demoCommand(options)))
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

const FILES = 'gateway.yaml, devices.yaml and routes.csv'
const TRACKING_FILES = `tracking.yaml; without that, ${FILES}`

const ROUTES = {
  check: 'say what the file would do, and change nothing; exit 1 where a line would be left out',
  put: 'put lines in place of those that begin on the days on which the lines of the file begin; no other day changes, unless --from or --until say so. A line with a mistake is left out, the others are put: exit 1',
} as const

/** Ends the process once all that it printed is written: into a pipe that may take a while. */
function exit(code: number): Promise<never> {
  const { stdout } = process
  return new Promise(() => {
    stdout.write('', () => {
      if (stdout.errored) endUnlessNobodyReads(stdout.errored)
      process.exit(code)
    })
  })
}

/** A pipe that is closed (`… | head`) is no fault. */
function endUnlessNobodyReads({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  process.stderr.write(`The output cannot be written: ${code === 'ENOSPC' ? 'the disk is full' : code}.\n`)
  process.exit(1)
}
