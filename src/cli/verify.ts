import type { VerifiedJson } from '../admin/schemas/verify.ts'
import { clockIn } from '../domain/times.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read, readStatus } from './client.ts'
import { dayOption } from './day.ts'
import { countText, printExact, printLines, table } from './output.ts'

interface VerifyOptions extends AdminPortOptions {
  readonly route?: string
  readonly company?: string
  readonly day?: string
  readonly repair?: boolean
  readonly json?: boolean
}

/**
 * `waybridge verify`: compares the deliveries of a day with the tracking API; progress goes to standard error. @returns the
 * exit code: 1 if something is missing @throws UserError
 */
export async function verifyCommand({ company, day, json, repair, route, ...options }: VerifyOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const date = await dayOption(day, admin)
  const asked = {
    ...(route !== undefined && { route_id: route }),
    ...(company !== undefined && { company_id: company }),
    ...(date !== undefined && { day: date }),
    ...(repair && { repair: 'true' }),
  }
  let token: string | undefined
  let all: VerifiedJson | undefined
  do {
    const query = { ...asked, ...(token !== undefined && { page_token: token }) }
    const answer: VerifiedJson = await read<VerifiedJson>(admin, {
      method: 'POST',
      path: '/admin/verify',
      query: all ? { ...query, day: all.day } : query,
      timeoutMs: RUN_MS,
    })
    all = all ? both(all, answer) : answer
    token = answer.next_page_token
    if (token !== undefined && !json) process.stderr.write(`${countText(all.checked, 'position')} compared so far\n`)
  } while (token !== undefined)
  if (json) printExact([JSON.stringify(all)])
  else printLines(await linesOf(all, (await readStatus(admin)).status.time_zone, repair === true))
  return all.missing.length === 0 ? 0 : 1
}

/** The answers of two parts of a run as one. */
function both(one: VerifiedJson, other: VerifiedJson): VerifiedJson {
  const lanes = Map.groupBy([...one.missing, ...other.missing], (each) => {
    return `${each.company_id}/${each.courier_id}/${each.route_id}`
  })
  const unknown = Map.groupBy([...one.unknown, ...other.unknown], ({ company_id, reason }) => `${company_id} ${reason}`)
  return {
    ...other,
    checked: one.checked + other.checked,
    repaired: one.repaired + other.repaired,
    stopped: one.stopped ?? other.stopped,
    missing: [...lanes.values()].map(([first, ...more]) =>
      more.reduce((sum, each) => {
        const positions = [...sum.positions, ...each.positions]
        const [from_at, until_at] = [
          [sum.from_at, each.from_at].toSorted()[0],
          [sum.until_at, each.until_at].toSorted()[1],
        ]
        return { ...sum, from_at, until_at, missing: sum.missing + each.missing, positions }
      }, first),
    ),
    unknown: [...unknown.values()].map(([first, ...more]) =>
      more.reduce((sum, { fixes }) => ({ ...sum, fixes: sum.fixes + fixes }), first),
    ),
  }
}

async function linesOf(result: VerifiedJson, zone: string, repair: boolean): Promise<string[]> {
  const { checked, day, kept_since_at, missing, repaired, stopped, unknown, until_at } = result
  const clock = clockIn(zone, Date.now())
  const lost = missing.reduce((sum, each) => sum + each.missing, 0)
  const rows = missing.map((each) => {
    return [
      each.company_id,
      each.courier_id,
      each.route_id,
      String(each.missing),
      clock(each.from_at),
      clock(each.until_at),
    ]
  })
  const compared = checked === 1 ? 'the one position that was' : `all ${checked} positions that were`
  const found =
    checked === 0
      ? `${day}: nothing was compared.`
      : lost === 0
        ? `${day}: the tracking API has ${compared} compared.`
        : `${day}: of ${countText(checked, 'position')} compared, ${lost} ${lost === 1 ? 'is' : 'are'} missing in the tracking API:`
  return [
    found,
    ...(rows.length > 0 ? table(HEAD, rows) : []),
    ...(repair && lost > 0 ? [`${countText(repaired, 'position is', 'positions are')} pushed once more.`] : []),
    ...unknown.map(({ fixes, message }) => `Not known of ${countText(fixes, 'position')}: ${message}.`),
    ...(stopped === undefined ? [] : [`The rest was not compared: ${stopped}.`]),
    ...(kept_since_at === undefined || checked === 0
      ? []
      : [`Of the time before ${clock(kept_since_at)} only what is kept was compared.`]),
    ...(until_at === undefined ? [] : [`Not compared: what is newer than ${clock(until_at)}.`]),
  ]
}

const HEAD = ['company', 'courier', 'route', 'missing', 'from', 'to']
/** Time for about 60 requests, one a second, and a second read of missing positions. */
const RUN_MS = 3_600_000
