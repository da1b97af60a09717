import type { CourierPosition } from '../tracking/schemas.ts'

/** Positions as CSV, a line each below the header. */
export function csvOf(positions: readonly CourierPosition[]): string[] {
  const rows = positions.map(({ timestamp, lat, lon, server_timestamp = '' }) =>
    [timestamp, timeOf(timestamp), lat, lon, server_timestamp].join(','),
  )
  return ['timestamp,time,lat,lon,server_timestamp', ...rows]
}

/** Positions as GeoJSON (RFC 7946): the track as a line, where there are two or more, then a point each. */
export function geoJsonOf(positions: readonly CourierPosition[]): string {
  const coordinates = positions.map(({ lat, lon }) => [lon, lat])
  const line = { type: 'Feature', geometry: { type: 'LineString', coordinates }, properties: {} }
  const points = positions.map(({ lat, lon, timestamp, server_timestamp }) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [lon, lat] },
    properties: { timestamp, time: timeOf(timestamp), server_timestamp },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features: positions.length > 1 ? [line, ...points] : points })
}

/** RFC 3339; empty beyond the calendar's end. */
function timeOf(timestamp: number): string {
  return Math.abs(timestamp) <= LAST_S ? new Date(timestamp * 1000).toISOString().replace('.000Z', 'Z') : ''
}

const LAST_S = 8.64e12
