import { Command, Option } from 'commander'
import { ConfigError } from '../config/problem.ts'
import { EX_CONFIG, explainError, UserError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { CONFIG_DEFAULT, CONFIG_OPTION, defaultConfigDir } from './config-dir.ts'
import { endUnlessPipeClosed, exit } from './output.ts'
import { type AskingCommand, importCommands, rosterCommands, takeOverCommands } from './roster-commands.ts'

/** Runs a command line to the end of the process. docker/upkeep.md lists the exit codes. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', endUnlessPipeClosed)
  try {
    await program().parseAsync(argv.length > 2 ? argv : [...argv, '--help'])
  } catch (error) {
    fail(error)
  }
}

/** Ends the process with an error message; `misconfigured`: the exit code if the configuration has mistakes. */
function fail(error: unknown, misconfigured = 1): never {
  const known = explainError(error)
  const expected = known instanceof UserError || known instanceof ConfigError
  process.stderr.write(`${expected ? known.message : known instanceof Error ? known.stack : String(known)}\n`)
  process.exit(known instanceof ConfigError ? misconfigured : expected ? 1 : 2)
}

/** The commands by purpose. The code of a command is loaded when the command runs. */
function program(): Command {
  const waybridge = new Command('waybridge')
    .description('GPS gateway: receives the fixes of trackers, stores them, and delivers them to the tracking API.')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 1))
    .version(VERSION, '--version', 'print the version')
    .showSuggestionAfterError()

  const configured: ConfiguredCommand = (name, description, files = FILES) => {
    const config = new Option('--config <dir>', `the folder with ${files}`).default(defaultConfigDir(), CONFIG_DEFAULT)
    return waybridge.command(name).description(description).addOption(config)
  }

  const asking: AskingCommand = (name, description, parent = waybridge) =>
    parent
      .command(name)
      .description(description)
      .option('--url <url>', 'address of the admin port (WAYBRIDGE_ADMIN_URL); default: read from the configuration')
      .option('--token <token>', 'token of the admin port (WAYBRIDGE_ADMIN_TOKEN)')
      .option('--config <dir>', CONFIG_OPTION)

  waybridge.commandsGroup('Run it:')
  runningCommands(waybridge, configured)
  waybridge.commandsGroup('See what is wrong:')
  lookingCommands(waybridge, asking)
  waybridge.commandsGroup('Say who drives what:')
  rosterCommands(waybridge, asking)
  takeOverCommands(waybridge, asking)
  waybridge.commandsGroup('Point trackers at it:')
  trackerCommands(waybridge, asking)
  waybridge.commandsGroup('Look after it:')
  waybridge
    .command('init <dir>')
    .description('make a folder with a commented configuration: gateway.yaml, devices.yaml and routes.csv')
    .action(async (dir: string) => exit(await (await import('./init.ts')).initCommand(dir)))
  configured('check', 'validate the configuration')
    .option(
      '--live',
      'test the tracking API for each company (DNS, certificate, keys, a read), and each roster that is pulled',
    )
    .option('--push', 'with --live: push one position to --courier on --route, and read it back')
    .option('--company <id>', 'with --live: for this company alone')
    .option('--courier <id>', 'with --live: the courier that keys are tested with')
    .option('--route <id>', 'with --live: the route of this courier')
    .action(async (options) => exit(await (await import('./check.ts')).checkCommand(options)))
  const alerts = waybridge.command('alerts').description('the receivers of alerts')
  asking('test', 'send a test to each receiver of alerts; exit code 1 if one does not take it', alerts)
    .option('--json', 'print the answer of the admin port')
    .action(async (options) => exit(await (await import('./alerts.ts')).testAlertsCommand(options)))
  configured('backup <file>', 'write what the data folder holds to a file, while it runs or not')
    .option('--with-kept', 'also the delivered positions that are kept')
    .action(async (file: string, options) => exit(await (await import('./backup.ts')).backupCommand(file, options)))
  configured('restore <file>', 'make a data folder that holds what a backup holds').action(
    async (file: string, { config }: ConfigOption) =>
      exit(await (await import('./backup.ts')).restoreCommand(file, config)),
  )
  waybridge
    .command('completion <shell>')
    .description('print the script that completes commands: bash, zsh or fish')
    .action(async (shell: string) => exit((await import('./completion.ts')).completionCommand(shell, waybridge)))
  return waybridge
}

/** Makes a command that reads the configuration. `files`: which files of its folder. */
type ConfiguredCommand = (name: string, description: string, files?: string) => Command

function runningCommands(waybridge: Command, configured: ConfiguredCommand): void {
  configured('start', 'run everything: private Redis, tracking service, gateways, workers, admin port').action(
    async ({ config }: ConfigOption) =>
      exit(await started(async () => (await import('../process/start.ts')).start(config))),
  )
  for (const [role, description] of ROLES)
    configured(role, description, role === 'tracking' ? TRACKING_FILES : FILES).action(
      async ({ config }: ConfigOption) =>
        started(async () => (await import('../process/roles/index.ts')).run(role, config)),
    )
  waybridge
    .command('demo')
    .description('run everything with simulated vans, and show that no fix is lost')
    .option('--vans <n>', 'number of vans')
    .option('--seconds <n>', 'how long the vans drive')
    .option('--protocols <names>', `${SPOKEN}; default: 15 of them`)
    .option(
      '--mistake',
      "put two vans on each other's routes since half an hour ago, to put that right; drives for 15 minutes",
    )
    .action(async (options) => exit(await (await import('../sandbox/demo/index.ts')).demoCommand(options)))
  waybridge
    .command('simulate')
    .description('simulate vans that drive plausible routes and send real protocol frames')
    .option('--target <host>', 'the host of the gateway', '127.0.0.1')
    .option('--vans <n>', 'number of vans')
    .option('--interval <duration>', 'time between two fixes of a van')
    .option('--protocols <names>', `${SPOKEN}; default: all`)
    .option('--duration <duration>', 'how long the vans drive')
    .option('--port <name=port...>', 'an unusual port: gt06=5999, or udp/gt06=5999')
    .option('--seed <n>', 'seed of the random routes')
    .option('--devices', 'only print a devices.yaml for these vans')
    .action(async (options) => exit(await (await import('../sandbox/simulate.ts')).simulateCommand(options)))
}

/** Starts a process; mistakes in its configuration end it with an exit code of their own: a restart would not help. */
function started<Result>(start: () => Promise<Result>): Promise<Result> {
  return start().catch((error) => fail(error, EX_CONFIG))
}

function lookingCommands(waybridge: Command, asking: AskingCommand): void {
  asking(
    'status',
    'say in one sentence how all is, then what is wrong and what to do; exit code 1 if something serious is',
  )
    .option('--json', 'print the answer of the admin port')
    .option('--watch', 'print it anew each second')
    .action(async (options) => exit(await (await import('./status.ts')).statusCommand(options)))
  asking('why <device...>', 'say where a device is, what is wrong with it and what to do; give its id or name')
    .option('--json', 'print the answer of the admin port')
    .action(async (words: string[], options) => exit(await (await import('./why.ts')).whyCommand(words, options)))
  asking('where <device...>', 'say where a device is: what it does, its last position and its age, courier and route')
    .option('--json', 'print JSON')
    .action(async (words: string[], options) => exit(await (await import('./devices.ts')).whereCommand(words, options)))
  const devices = asking(
    'devices',
    'list the devices: what each does, when it was heard, its courier and route, what is wrong with it',
  )
    .option('--state <state>', 'online, offline or never')
    .option('--mapping <mapping>', 'mapped, no_route or unmapped')
    .option('--condition <condition>', 'moving, standing, parked, silent, gps_old, no_route, held, never or unknown')
    .option('--q <text>', 'a part of the id or the name')
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV, with times in UTC')
    .action(async (options) => exit(await (await import('./devices.ts')).devicesCommand(options)))
  importCommands(devices, asking)
  asking('day', 'say what became of each route of a day: how much of its plan has positions, what is missing and why')
    .option('--day <day>', 'such as 2026-11-20, or yesterday; default: today until now')
    .option('--route <id>', 'of this route alone, with each gap')
    .option('--company <id>', 'of this company alone')
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV, with times in UTC')
    .action(async (options) => exit(await (await import('./day.ts')).dayCommand(options)))
  asking('verify', 'compare what was delivered with what the tracking API has; exit code 1 if something is missing')
    .option('--route <id>', 'of this route alone')
    .option('--company <id>', 'of this company alone')
    .option('--day <day>', 'such as 2026-11-20, or yesterday; default: today')
    .option('--repair', 'push what is missing once more')
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./verify.ts')).verifyCommand(options)))
  asking('arrivals', 'list who has come and is not configured: id, protocol, fixes that are held, and what to do')
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./arrivals.ts')).arrivalsCommand(options)))
  asking(
    'trial',
    'say how waybridge does beside an old server: devices understood, answers equal; exit code 1 if one differs',
  )
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./trial.ts')).trialCommand(options)))
  parkedCommands(waybridge.command('parked'), asking)
  misunderstoodCommands(waybridge.command('misunderstood'), asking)
  asking('positions', 'print the positions that the tracking service has stored of a route, as JSON')
    .requiredOption('--company <id>', 'the company of the route')
    .requiredOption('--route <id>', 'the route')
    .requiredOption('--from <time>', 'unix seconds, RFC 3339, or local time such as "2026-11-20 06:00"')
    .option('--to <time>', 'the same forms; default: now')
    .option('--csv', 'print CSV, with times in UTC')
    .option('--geojson', 'print GeoJSON: the track and its points, with times in UTC')
    .action(async (options) => exit(await (await import('./positions.ts')).positionsCommand(options)))
}

function parkedCommands(parked: Command, asking: AskingCommand): void {
  parked.description('what the tracking API, or the receiver of a copy, refused: look, try again, delete')
  for (const act of ['list', 'retry', 'delete'] as const) {
    const command = asking(act, PARKED[act], parked)
      .option('--courier <id>', 'of this courier alone')
      .option('--route <id>', 'of this route alone')
      .option('--copy <name>', 'what the receiver of this copy refused')
    if (act === 'list')
      command
        .option('--json', 'print JSON')
        .action(async (options) => exit(await (await import('./parked.ts')).listParkedCommand(options)))
    else
      command
        .option('--all', 'of all couriers and routes')
        .action(async (options) => exit(await (await import('./parked.ts')).changeParkedCommand(act, options)))
  }
}

function misunderstoodCommands(misunderstood: Command, asking: AskingCommand): void {
  misunderstood.description('frames that were kept because they could not be read: look, hand on')
  asking('list', 'list them by protocol and reason', misunderstood)
    .option('--device <id>', 'of this device alone')
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./misunderstood.ts')).listMisunderstoodCommand(options)))
  asking('export', 'print them as cases for whoever develops decoders, with other ids and places', misunderstood)
    .option('--device <id>', 'of this device alone')
    .option('--all', 'also those that may say still who or where it was')
    .action(async (options) => exit(await (await import('./misunderstood.ts')).exportMisunderstoodCommand(options)))
}

function trackerCommands(waybridge: Command, asking: AskingCommand): void {
  waybridge
    .command('setup <protocol>')
    .description('print what points a tracker at this server: SMS, or settings')
    .requiredOption('--host <host>', 'name or address of this server, as trackers reach it')
    .option('--port <port>', 'port; default: the usual one of the protocol')
    .option('--config <dir>', 'take the port from the listeners of the configuration in this folder')
    .option('--apn <apn>', 'APN of the SIM card (default: internet)')
    .option('--user <user>', 'user of the APN')
    .option('--password <password>', 'password of the APN')
    .action(async (protocol, options) => exit(await (await import('./setup.ts')).setupCommand(protocol, options)))
  waybridge
    .command('protocols')
    .description('list the protocols: usual ports, what is acknowledged, devices')
    .option('--config <dir>', 'only those that the configuration in this folder listens for, with its ports')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./protocols.ts')).protocolsCommand(options))
  waybridge
    .command('decode [paste...]')
    .description('show what a frame contains, as JSON; pasted as it is: hex, base64, C escapes, text, a line of a log')
    .option(
      '--protocol <name>',
      'the protocol of the frame ("waybridge protocols" lists them); without it every protocol that fits is shown',
    )
    .option('--hex <hex>', 'the bytes of a stream, in hexadecimal')
    .option('--text <text>', 'the bytes of a stream, as text')
    .option('--jsonl', 'read one JSON object per line from standard input, and print one per line')
    .option('--lenient', 'accept a wrong checksum')
    .action(async (paste, options) => exit(await (await import('./decode.ts')).decodeCommand({ ...options, paste })))
  asking('enrol', 'admit devices that are not configured for a while; without options: say whether they are')
    .option('--for <duration>', 'open the enrolment window for so long from now on: 30m')
    .option('--stop', 'close it')
    .action(async (options) => exit(await (await import('./arrivals.ts')).enrolCommand(options)))
  asking(
    'release <device>',
    'deliver the fixes of a device that are held because they are off its track (filter.suspicious: hold)',
  ).action(async (device: string, options) =>
    exit(await (await import('./release.ts')).releaseCommand(device, options)),
  )
  asking(
    'forget <device>',
    'delete what is stored of a device (fixes, also delivered ones that are kept, contacts, events); its entry and routes stay',
  )
    .option('--yes', 'without asking')
    .action(async (device: string, options) => exit(await (await import('./forget.ts')).forgetCommand(device, options)))
}

/** The protocols of simulated vans. Listed here, so that other commands need not load their code. */
const SPOKEN =
  'comma-separated, of teltonika, gt06, h02, wialon, osmand, owntracks, fix, jt808, gl200, gps103, tk103, meitrack, watch, ' +
  'egts, eelink, castel, t55, jt600, totem, laipac, upro, suntech, meiligao, megastek, xexun; or tcp, udp, http, mqtt for all of a transport'

interface ConfigOption {
  readonly config: string
}

const ROLES = [
  ['gateway', 'run only a gateway, which trackers connect to'],
  ['worker', 'run only a worker, which pushes waiting fixes to the tracking API'],
  ['admin', 'run only the admin port'],
  ['tracking', 'run only the tracking service'],
] as const

const FILES = 'gateway.yaml, devices.yaml and routes.csv'
const TRACKING_FILES = `tracking.yaml; without it, ${FILES}`

const PARKED = {
  list: 'list what is parked, by lane and answer',
  retry: 'try parked positions again',
  delete: 'delete parked positions: they are never delivered',
} as const
