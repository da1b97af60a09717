import type { CopiedFix } from '../store/index.ts'

/**
 * Returns one fix as JSON, without unknown values. Ids are strings, because JSON numbers may lose digits; the time is RFC
 * 3339, UTC.
 */
export function fixJson(company: string, fix: CopiedFix, name: string | undefined): object {
  const { device, courier, route, timestamp, latitude, longitude, accuracy, altitude, heading, satellites } = fix
  return {
    device,
    name,
    company_id: company,
    courier_id: courier,
    route_id: route,
    time: new Date(timestamp * 1000).toISOString(),
    lat: latitude,
    lon: longitude,
    accuracy,
    speed: fix.speed,
    heading,
    altitude,
    satellites,
    said: fix.said,
  }
}
