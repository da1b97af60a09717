import * as z from 'zod'
import { int64, int64Mistake } from '../config/units.ts'
import { UserError } from '../errors.ts'
import { parseBody } from '../tracking/body.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type Answer, ask, refusalText } from './ask.ts'
import { gatewayStatus } from './gateway.ts'
import { momentOption } from './moment.ts'
import { print } from './output.ts'
import { csvOf, geoJsonOf, Position } from './track.ts'

export interface PositionsOptions extends AdminPortOptions {
  readonly company: string
  readonly route: string
  readonly from: string
  readonly to?: string
  readonly csv?: boolean
  readonly geojson?: boolean
}

/** `waybridge positions`: what the tracking service has of a route; answers with the exit code. @throws UserError */
export async function positionsCommand(options: PositionsOptions): Promise<number> {
  if (options.csv && options.geojson) throw new UserError('positions: give --csv or --geojson, not both.')
  const company = idOption('--company', options.company)
  const route = idOption('--route', options.route)
  const admin = await findAdminPort(options)
  const { time_zone } = await gatewayStatus(admin)
  const from = momentOption('--from', options.from, time_zone)
  const now = Math.floor(Date.now() / 1000)
  const to = options.to === undefined ? now : momentOption('--to', options.to, time_zone)
  if (options.to === undefined && from > now)
    throw new UserError(`--from ${options.from}: that is yet to come; say with --to until when.`)
  const path = `/api/v2/companies/${company}/routes/${route}/courier-positions`
  const query = { from: String(from), to: String(to) }
  const answer = await ask(admin, { path, query, timeoutMs: TIMEOUT_MS })
  if (answer.status === 401) throw new UserError(`${refusalText(answer)} (company ${company}'s oauth_token: expired?)`)
  if (answer.status !== 200) throw new UserError(refusalText(answer))
  print(options.csv ? csvOf(positionsOf(answer)) : [options.geojson ? geoJsonOf(positionsOf(answer)) : answer.text])
  return 0
}

/** @throws UserError where the answer is no list of positions */
function positionsOf({ text }: Answer): Position[] {
  const read = z.array(Position).safeParse(exact(text))
  if (read.success) return read.data
  const [{ path, message }] = read.error.issues
  const place = path.length > 0 ? `${path.join('.')}: ` : ''
  throw new UserError(
    `The answer is no list of positions (${place}${message}); without --csv and --geojson it is shown.`,
  )
}

/** What JSON says, long timestamps with all of their digits; undefined where it is none. */
function exact(text: string): unknown {
  try {
    return parseBody(Buffer.from(text), 'application/json')
  } catch {
    return undefined
  }
}

function idOption(option: string, text: string): string {
  const id = int64(text)
  if (id === undefined) throw new UserError(`${option} ${text}: ${int64Mistake(text)}.`)
  return id
}

/** A month is hundreds of windows, each of which may take its time. */
const TIMEOUT_MS = 600_000
