import type { Command } from 'commander'
import { CONFIG_OPTION } from './config-dir.ts'
import { exit } from './output.ts'

/** Makes a command that asks the admin port. */
export type AskingCommand = (name: string, description: string, parent?: Command) => Command

/** The commands that change the roster. */
export function rosterCommands(waybridge: Command, asking: AskingCommand): void {
  const from = ['--from <time>', `from this time on: ${TIMES}; default: now`] as const
  asking('assign <device...>', 'give a device (id or name) a route, or the routes of another one, which loses them')
    .option('--route <id>', 'the route; until the end of the day unless --until is given')
    .option('--courier <id>', "the courier; default: the device's own")
    .option('--like <device>', 'the device whose routes and couriers it takes over from then on')
    .option(...from)
    .option('--until <time>', 'until this time')
    .option('--yes', 'also where it takes the route from another device')
    .option('--redeliver', REDELIVER)
    .option('--json', 'print the answer of the admin port')
    .action(async (device: string[], options) =>
      exit(await (await import('./assign.ts')).assignCommand(device, options)),
    )
  asking('unassign <device...>', 'end the assignments of a device (id or name)')
    .option(...from)
    .option('--until <time>', 'only those until this time')
    .option('--yes', 'without asking')
    .option('--json', 'print the answer of the admin port')
    .action(async (device: string[], options) =>
      exit(await (await import('./assign.ts')).unassignCommand(device, options)),
    )
  asking('redeliver <device...>', 'deliver the kept positions of a device where its routes say now, as well')
    .requiredOption('--from <time>', `of this time on: ${TIMES}`)
    .requiredOption('--until <time>', 'until this time')
    .option('--dry-run', 'only say what that would be')
    .option('--json', 'print the answer of the admin port')
    .action(async (device: string[], options) =>
      exit(await (await import('./redeliver.ts')).redeliverCommand(device, options)),
    )
  const routes = waybridge.command('routes').description('list, check, put or take back a roster')
  asking('list', 'list the lines in effect', routes)
    .option('--at <time>', `only what holds at this time: ${TIMES}`)
    .option('--company <id>', 'only of this company')
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./roster.ts')).listRoutesCommand(options)))
  for (const act of ['check', 'put'] as const) {
    const command = asking(`${act} <file>`, ROUTES[act], routes)
      .option('--company <id>', 'the company of these routes; default: the company of the devices in the file')
      .option('--from <time>', "replace lines that begin at or after this time; default: the file's first day")
      .option('--until <time>', "replace lines that begin before this time; default: the end of the file's last day")
      .option('--only-listed', 'replace only lines of the devices in the file')
    if (act === 'put')
      command
        .option('--yes', 'put it also where devices lose their route')
        .option('--redeliver', REDELIVER)
        .option('--force', 'put it even if most devices lose their route')
    command.action(async (file: string, options) =>
      exit(await (await import('./routes.ts')).routesCommand(act, file, options)),
    )
  }
  asking('undo', 'take the last put (routes, or a list of vans) or assignment of a company back', routes)
    .option('--company <id>', 'the company; default: the only one with a put')
    .option('--yes', 'also where devices lose their route')
    .option('--force', 'even if most devices lose their route')
    .action(async (options) => exit(await (await import('./roster.ts')).undoCommand(options)))
}

/** `waybridge devices check|put FILE`: below the command that lists the devices. */
export function importCommands(devices: Command, asking: AskingCommand): void {
  for (const act of ['check', 'put'] as const) {
    const command = asking(`${act} <file>`, DEVICES[act], devices)
      .option('--company <id>', 'the company of these vans; default: the only one')
      .option('--column <field=header>', 'what a column is read as; field: device, name, courier_id, …, none', collect)
      .option('--accept <line[=id]>', 'take a line whose id is in doubt as it is, or with this id', collect)
      .option('--json', 'print the answer of the admin port')
    if (act === 'put')
      command
        .option('--yes', 'put it also where devices lose their route')
        .option('--force', 'put it even if most devices lose their route')
    // Options that the parent command has too, such as --url, belong to the parent.
    command.action(async (file: string) =>
      exit(await (await import('./device-import.ts')).importCommand(act, file, command.optsWithGlobals())),
    )
  }
}

/** `waybridge import traccar|csv`: takes over the vans of another system. */
export function takeOverCommands(waybridge: Command, asking: AskingCommand): void {
  const imports = waybridge.command('import').description('take over the vans of another system')
  const traccar = imports
    .command('traccar [file]')
    .description('take over the devices of a Traccar server, or of a file with the answer of its GET /api/devices')
    .option('--url <url>', 'address of the Traccar server')
    .option('--token <token>', 'token of a user there (WAYBRIDGE_TRACCAR_TOKEN)')
    .option('--group <name>', 'only the devices of this group, and of those below it')
    .option('--couriers', "take the id of a device's only driver as its courier_id")
    .option(
      '--column <field=name>',
      'a field or attribute of a device there, and what it is: device, name, courier_id, …',
      collect,
    )
    .option('--to-trial', 'print the listeners of a trial in front of this server')
    .option(
      '--admin-url <url>',
      'address of the admin port (WAYBRIDGE_ADMIN_URL); default: read from the configuration',
    )
    .option('--admin-token <token>', 'token of the admin port (WAYBRIDGE_ADMIN_TOKEN)')
    .option('--config <dir>', CONFIG_OPTION)
  const csv = asking('csv <file>', "take over a fleet's own list of vans (CSV, .xlsx)", imports).option(
    '--column <field=header>',
    'what a column is read as; field: device, name, courier_id, …, none',
    collect,
  )
  for (const command of [traccar, csv])
    command
      .option('--accept <line[=id]>', 'take a line whose id is in doubt as it is, or with this id', collect)
      .option('--company <id>', 'the company of these vans; default: the only one')
      .option('--yes', 'without asking')
      .option('--force', 'put it even if most devices lose their route')
      .option('--json', 'print the answer of the admin port')
  traccar.action(async (file: string | undefined, options) =>
    exit(await (await import('./import-traccar.ts')).importTraccarCommand(file, options)),
  )
  csv.action(async (file: string, options) =>
    exit(await (await import('./device-import.ts')).importCommand('import', file, options)),
  )
}

/** Collects all values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}

const TIMES = 'now, RFC 3339, local such as "2026-11-20 06:00", or a day'

const DEVICES = {
  check: "show what a fleet's own list of vans (CSV, .xlsx) would change; exit code 1 if a line would be left out",
  put: "add and change vans by a fleet's own list (CSV, .xlsx); a line with a mistake or an id in doubt is left out, and the exit code is 1",
} as const

const ROUTES = {
  check: 'show what the file would change, without changing anything; exit code 1 if a line would be left out',
  put: 'replace the lines that begin on the days of the file (or between --from and --until) by the lines of the file; a line with a mistake is left out, the others are put, and the exit code is 1',
} as const
const REDELIVER = 'deliver positions of the past to the new route as well, without asking'
