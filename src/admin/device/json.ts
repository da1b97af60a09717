import type { Contact, DeviceRecord } from '../../store/device-record.ts'
import { alarmsIn, type SaidParts, valuesIn } from '../../store/said.ts'
import { instant } from '../json.ts'
import type { DecodedFix, LastSaidJson } from '../schemas/devices.ts'

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

/** Returns the last values that a tracker sent beside its positions. */
export function lastSaidJson(parts: SaidParts): LastSaidJson {
  const values = valuesIn(parts).map(([name, { at, since_at = at, value }]) => [
    name,
    { value, since_at: instant(since_at) },
  ])
  const alarms = alarmsIn(parts).map(({ alarm, at }) => ({ alarm, at: instant(at) ?? '' }))
  return {
    ...Object.fromEntries(values),
    ...(alarms.length > 0 && { alarms }),
  }
}
