import type { SaidFacts } from '../../diagnose/device-facts.ts'
import { alarmsIn, type SaidPart, type SaidParts } from '../../store/said.ts'

/** Returns the facts for the diagnosis from the last values that a tracker sent beside its positions. */
export function saidFacts(parts: SaidParts): SaidFacts {
  const { ignition, charging, external_voltage, battery_percent } = parts
  return {
    ignition: ignition && {
      value: ignition.value === true,
      at: ignition.at,
      sinceAt: ignition.since_at ?? ignition.at,
      otherAt: ignition.other_at,
    },
    charging: charging && { value: charging.value === true, at: charging.at },
    external_voltage: measured(external_voltage),
    battery_percent: measured(battery_percent),
    alarms: alarmsIn(parts),
  }
}

function measured(part: SaidPart | undefined) {
  return part && { value: Number(part.value), at: part.at }
}
