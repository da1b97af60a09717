import type { Contact, DeviceRecord } from '../../store/device-record.ts'
import { instant } from '../json.ts'
import type { DecodedFix } from '../schemas/devices.ts'

/** A fix without the numbers that JSON cannot hold. */
export function decodedFix({
  time,
  latitude,
  longitude,
  ...rest
}: NonNullable<DeviceRecord['fix']>['fix']): DecodedFix {
  const fix = { time: instant(time ?? undefined), lat: latitude, lon: longitude, ...rest }
  return Object.fromEntries(
    Object.entries(fix).filter(([, value]) => value !== null && (typeof value !== 'number' || Number.isFinite(value))),
  )
}

/** When and how a device sent something last. */
export function contactJson({ at, protocol, transport, remote }: Contact) {
  return { at: instant(at), protocol, transport, remote }
}
