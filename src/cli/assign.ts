import type * as z from 'zod'
import type { AssignedJson } from '../admin/json.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type AdminAnswer, ask, bodyOf, errorText } from './client.ts'
import { listText, printExact, printLines } from './output.ts'
import { confirm } from './question.ts'

interface UnassignOptions extends AdminPortOptions {
  readonly from?: string
  readonly until?: string
  readonly yes?: boolean
  readonly json?: boolean
}

interface AssignOptions extends UnassignOptions {
  readonly route?: string
  readonly courier?: string
  readonly like?: string
}

type Assigned = z.infer<typeof AssignedJson>

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
  const request = { path: `/admin/devices/${encodeURIComponent(device)}/${act}`, json: body }
  const plan = assignedOf(await ask(admin, { ...request, method: 'POST', query: { dry_run: 'true' } }))
  if (!options.json) printLines([plan.text, ...plan.warnings.map((message) => `warning: ${message}`)])
  if (plan.takes.length > 0 && !options.yes && !(await mayTake(plan))) return 1
  const query: Record<string, string> = plan.takes.length > 0 ? { force: 'true' } : {}
  const answer = await ask(admin, { ...request, method: 'POST', query })
  assignedOf(answer)
  if (options.json) printExact([answer.text])
  else printLines(['Done. `waybridge routes undo` takes it back.'])
  return 0
}

/** Names the vans that lose a route, and asks the user at a terminal. */
async function mayTake({ takes }: Assigned): Promise<boolean> {
  const names = listText([...new Set(takes.map(({ device, name = device }) => name))])
  const isMeant = await confirm(`This takes the route from ${names}. Go on?`)
  if (isMeant === undefined)
    process.stderr.write(`Nothing is changed: this takes the route from ${names}; add --yes.\n`)
  else if (!isMeant) printLines(['Nothing is changed.'])
  return isMeant === true
}

function assignedOf(answer: AdminAnswer): Assigned {
  if (answer.status === 200) return bodyOf(answer)
  throw new UserError(errorText(answer))
}
