import * as z from 'zod'
import { instant } from '../admin/json.ts'
import { int64, int64Mistake } from '../domain/units.ts'
import { UserError } from '../errors.ts'
import { english } from '../texts/text.ts'
import { exactJson, parseBody } from '../tracking/body.ts'
import { CourierPosition } from '../tracking/schemas.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, errorText, readStatus } from './client.ts'
import { timeOption } from './intervals.ts'
import { printExact } from './output.ts'

interface PositionsOptions extends AdminPortOptions, Readonly<Record<'company' | 'route' | 'from', string>> {
  readonly to?: string
  readonly csv?: boolean
  readonly geojson?: boolean
}

/** `waybridge positions`: what the tracking service has stored of a route. @returns the exit code @throws UserError */
export async function positionsCommand(options: PositionsOptions): Promise<number> {
  if (options.csv && options.geojson) throw new UserError('positions: give --csv or --geojson, not both.')
  const company = idOption('--company', options.company)
  const route = idOption('--route', options.route)
  const admin = await findAdminPort(options)
  const { time_zone } = (await readStatus(admin)).status
  const from = timeOption('--from', options.from, time_zone)
  const now = Math.floor(Date.now() / 1000)
  const to = options.to === undefined ? now : timeOption('--to', options.to, time_zone)
  if (options.to === undefined && from > now)
    throw new UserError(`--from ${options.from}: this is in the future; give --to as well.`)
  const path = `/api/v2/companies/${company}/routes/${route}/courier-positions`
  const query = { from: String(from), to: String(to) }
  const answer = await ask(admin, { path, query, timeoutMs: TIMEOUT_MS })
  const advice = answer.status === 401 ? ` (check the oauth_token of company ${company}: it may have expired)` : ''
  if (answer.status !== 200) throw new UserError(errorText(answer) + advice)
  const { text } = answer
  printExact(options.csv ? csvLines(positionsIn(text)) : [options.geojson ? geoJson(positionsIn(text)) : text])
  return 0
}

/** A position as the interface returns it; a timestamp beyond 2^53 is a bigint. */
const StoredPosition = CourierPosition.extend({ timestamp: z.number().or(z.bigint()) })
type StoredPosition = z.infer<typeof StoredPosition>

/** @throws UserError if the answer is not a list of positions */
function positionsIn(text: string): StoredPosition[] {
  const read = z.array(StoredPosition).safeParse(parseExact(text))
  if (read.success) return read.data
  throw new UserError('The answer is not a list of positions; print it without --csv and --geojson.')
}

/** Parses a JSON text, timestamps with all of their digits; undefined if it is not JSON. */
function parseExact(text: string): unknown {
  try {
    return parseBody(Buffer.from(text), 'application/json')
  } catch {
    return undefined
  }
}

function csvLines(positions: readonly StoredPosition[]): string[] {
  const rows = positions.map(({ timestamp, lat, lon, server_timestamp = '' }) =>
    [timestamp, timeText(timestamp), lat, lon, server_timestamp].join(','),
  )
  return ['timestamp,time,lat,lon,server_timestamp', ...rows]
}

/** GeoJSON (RFC 7946): the track as a line if there are two positions or more, then each position as a point. */
function geoJson(positions: readonly StoredPosition[]): string {
  const coordinates = positions.map(({ lat, lon }) => [lon, lat])
  const line = { type: 'Feature', geometry: { type: 'LineString', coordinates }, properties: {} }
  const points = positions.map(({ lat, lon, timestamp, server_timestamp }) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [lon, lat] },
    properties: { timestamp, time: timeText(timestamp), server_timestamp },
  }))
  return exactJson({ type: 'FeatureCollection', features: positions.length > 1 ? [line, ...points] : points })
}

/** RFC 3339; empty if the calendar has no such day. */
function timeText(timestamp: number | bigint): string {
  return instant(Number(timestamp) * 1000)?.replace('.000Z', 'Z') ?? ''
}

export function idOption(option: string, text: string): string {
  const id = int64(text)
  if (id === undefined) throw new UserError(`${option} ${text}: ${english(int64Mistake(text))}.`)
  return id
}

/** The relay reads a month in hundreds of windows, which takes minutes. */
const TIMEOUT_MS = 600_000
