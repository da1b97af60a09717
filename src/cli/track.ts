import * as z from 'zod'
import { exactJson } from '../tracking/json.ts'
import { CourierPosition } from '../tracking/schemas.ts'

/** A position as the interface returns it; a timestamp beyond 2^53 is a bigint. */
export const Position = CourierPosition.extend({ timestamp: z.number().or(z.bigint()) })
export type Position = z.infer<typeof Position>

/** Positions as CSV, a line each below the header. */
export function csvOf(positions: readonly Position[]): string[] {
  const rows = positions.map(({ timestamp, lat, lon, server_timestamp = '' }) =>
    [timestamp, timeOf(timestamp), lat, lon, server_timestamp].join(','),
  )
  return ['timestamp,time,lat,lon,server_timestamp', ...rows]
}

/** Positions as GeoJSON (RFC 7946): the track as a line, where there are two or more, then a point each. */
export function geoJsonOf(positions: readonly Position[]): string {
  const coordinates = positions.map(({ lat, lon }) => [lon, lat])
  const line = { type: 'Feature', geometry: { type: 'LineString', coordinates }, properties: {} }
  const points = positions.map(({ lat, lon, timestamp, server_timestamp }) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [lon, lat] },
    properties: { timestamp, time: timeOf(timestamp), server_timestamp },
  }))
  return exactJson({ type: 'FeatureCollection', features: positions.length > 1 ? [line, ...points] : points })
}

/** RFC 3339; empty beyond the calendar's end. */
function timeOf(timestamp: number | bigint): string {
  const seconds = Number(timestamp)
  return Math.abs(seconds) <= LAST_S ? new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') : ''
}

const LAST_S = 8.64e12
