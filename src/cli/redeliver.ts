import type { RedeliverJson } from '../admin/schemas/roster.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read } from './client.ts'
import { countText, printExact, printLines } from './output.ts'
import { confirm } from './question.ts'

interface RedeliverOptions extends AdminPortOptions {
  readonly from: string
  readonly until: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/**
 * `waybridge redeliver DEVICE --from T --until T`: has what the present roster places elsewhere than it was delivered delivered there
 * as well. @returns the exit code @throws UserError
 */
export async function redeliverCommand(words: readonly string[], options: RedeliverOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const path = `/admin/devices/${encodeURIComponent(words.join(' '))}/redeliver`
  const json = { from_at: options.from, until_at: options.until }
  const query: Record<string, string> = options.dryRun ? { dry_run: 'true' } : {}
  const answer = await read<{ redeliver?: RedeliverJson }>(admin, { method: 'POST', path, json, query })
  if (options.json) printExact([JSON.stringify(answer)])
  else printLines([...redeliverLines(answer.redeliver), ...doneLine(answer.redeliver, options)])
  return 0
}

/** Returns lines about positions that were delivered by the roster which a change replaces. */
export function redeliverLines(redeliver: RedeliverJson | undefined): string[] {
  if (!redeliver || redeliver.fixes === 0) return []
  const { moves, message } = redeliver
  const lines = moves.slice(0, MOST_LINES).map(({ device, name = device, fixes, from, to, first_at, last_at }) => {
    const [was, is] = [from, to].map(({ route_id, courier_id }) => `route ${route_id} (courier ${courier_id})`)
    const [day, lastDay] = [first_at, last_at].map((at) => at.slice(0, 10))
    const until = `${day === lastDay ? '' : `${lastDay} `}${last_at.slice(11, 16)}`
    const when = `${day} ${first_at.slice(11, 16)} to ${until} UTC`
    return `${name}: ${countText(fixes, 'position', 'positions')}, ${when}: delivered to ${was}, now of ${is}`
  })
  const more = moves.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : []), message]
}

/** Resolves to whether the concerned positions are redelivered: by an option, or by the answer of the user at the terminal. */
export async function isRedeliveryMeant(
  redelivers: readonly (RedeliverJson | undefined)[],
  option: boolean | undefined,
): Promise<boolean> {
  const fixes = redelivers.reduce((sum, redeliver) => sum + (redeliver?.fixes ?? 0), 0)
  // Positions may still wait for the route that they had: the correction takes them along.
  if (option) return redelivers.some((redeliver) => redeliver !== undefined)
  if (fixes === 0) return false
  const many = countText(fixes, 'position', 'positions')
  const isMeant = await confirm(`Deliver ${many} to the new route as well?`)
  if (isMeant === undefined) process.stderr.write(`${many} not delivered to the new route: add --redeliver for that.\n`)
  return isMeant === true
}

function doneLine(redeliver: RedeliverJson | undefined, { dryRun }: RedeliverOptions): string[] {
  if (!redeliver || redeliver.fixes === 0) return ['No kept position of this time has to be delivered once more.']
  const many = countText(redeliver.fixes, 'position', 'positions')
  return [dryRun ? `${many} would be delivered once more.` : `${many} will be delivered once more, within minutes.`]
}

const MOST_LINES = 20
