import type { AssignedJson } from '../admin/schemas/roster.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read } from './client.ts'
import { listText, printExact, printLines } from './output.ts'
import { confirmChange } from './question.ts'
import { isRedeliveryMeant, redeliverLines } from './redeliver.ts'

interface UnassignOptions extends AdminPortOptions {
  readonly from?: string
  readonly until?: string
  readonly yes?: boolean
  /** Delivers what the change concerns of the past once more. */
  readonly redeliver?: boolean
  readonly json?: boolean
}

interface AssignOptions extends UnassignOptions {
  readonly route?: string
  readonly courier?: string
  readonly like?: string
}

/** `waybridge assign`: gives a device a route, or the routes of another one. @returns the exit code @throws UserError */
export async function assignCommand(words: readonly string[], options: AssignOptions): Promise<number> {
  const { route, courier, like } = options
  if ((route === undefined) === (like === undefined))
    throw new UserError('Give either --route, or --like with the device whose routes it takes over.')
  return changeAssignment('assign', words.join(' '), options, { route_id: route, courier_id: courier, like })
}

/** `waybridge unassign`: ends the lines of a device. @returns the exit code @throws UserError */
export async function unassignCommand(words: readonly string[], options: UnassignOptions): Promise<number> {
  return changeAssignment('unassign', words.join(' '), options, {})
}

/** Prints what the change would do. Makes it if no van loses its route, or if the user confirms. */
async function changeAssignment(
  act: 'assign' | 'unassign',
  device: string,
  options: UnassignOptions,
  what: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const admin = await findAdminPort(options)
  const body = { ...what, from_at: options.from, until_at: options.until }
  const path = `/admin/devices/${encodeURIComponent(device)}/${act}`
  const request = { method: 'POST', path, json: body } as const
  const plan = await read<AssignedJson>(admin, { ...request, query: { dry_run: 'true' } })
  if (!options.json)
    printLines([plan.text, ...plan.warnings.map((message) => `warning: ${message}`), ...redeliverLines(plan.redeliver)])
  if (plan.takes.length > 0 && !options.yes && !(await mayTake(plan))) return 1
  const redelivers = await isRedeliveryMeant([plan.redeliver], options.redeliver)
  const query = { ...(plan.takes.length > 0 && { force: 'true' }), ...(redelivers && { redeliver: 'true' }) }
  const done = await read(admin, { ...request, query })
  if (options.json) printExact([JSON.stringify(done)])
  else printLines(['Done. `waybridge routes undo` takes it back.'])
  return 0
}

/** Names the vans that lose a route, and asks the user at a terminal. */
async function mayTake({ takes }: AssignedJson): Promise<boolean> {
  const names = listText([...new Set(takes.map(({ device, name = device }) => name))])
  return confirmChange(`This takes the route from ${names}. Go on?`, `this takes the route from ${names}; add --yes`)
}
