import { LATE_MS } from '../domain/late.ts'
import { joined, say, type Text } from '../texts/text.ts'
import type { FindingCode } from './codes.ts'
import type { DeviceFacts, RaisedAlarm, SaidFacts } from './device-facts.ts'

/** The finding that an alarm of a tracker leads to. */
interface AlarmFinding {
  readonly alarm: RaisedAlarm['alarm']
  readonly code: FindingCode
  /** @param at when the alarm was raised, RFC 3339 */
  readonly says: (at: string) => Text
  /** Whether the tracker has reported the opposite since a time, ms UTC. */
  readonly isOver?: (said: SaidFacts, since: number) => boolean
  /** Whether it is over once the device was heard for an hour without a repeat; else it lasts for a day. */
  readonly isShort?: true
}

const FINDINGS: readonly AlarmFinding[] = [
  { alarm: 'sos', code: 'sos', says: (at) => say('SOS, raised at {}', at), isShort: true },
  { alarm: 'power_cut', code: 'power_cut', says: (at) => say('power cut, said at {}', at), isOver: isPowered },
  { alarm: 'low_battery', code: 'battery_low', says: (at) => say('battery low, said at {}', at), isOver: isCharged },
  { alarm: 'jamming', code: 'jammed', says: (at) => say('jamming, said at {}', at), isShort: true },
]

/** Pure: what a tracker has raised an alarm about and not taken back. */
export function alarmTroubles({ heardAt = 0, said }: Pick<DeviceFacts, 'heardAt' | 'said'>, now: number) {
  if (!said?.alarms) return []
  return FINDINGS.flatMap(({ alarm, code, says, isOver, isShort }) => {
    const raised = said.alarms?.find((each) => each.alarm === alarm)
    if (!raised || isOver?.(said, raised.at)) return []
    const { at, cameAt, sinceAt } = raised
    if (now - cameAt > DAY_MS || (isShort && heardAt - cameAt > HOUR_MS)) return []
    const came = cameAt - at > LATE_MS ? [say('came at {}', instant(cameAt))] : []
    return [{ code, sinceAt, evidence: joined([says(instant(at)), ...came], ', ') }]
  })
}

function isPowered({ alarms = [], charging, external_voltage }: SaidFacts, since: number): boolean {
  const isRestored = alarms.some(({ alarm, at }) => alarm === 'power_restored' && at > since)
  return isRestored || isCharging(charging, since) || isAbove(POWERED_V, external_voltage, since)
}

function isCharged({ battery_percent, charging }: SaidFacts, since: number): boolean {
  return isCharging(charging, since) || isAbove(CHARGED_PERCENT, battery_percent, since)
}

function isCharging(charging: SaidFacts['charging'], since: number): boolean {
  return charging !== undefined && charging.value && charging.at > since
}

function isAbove(least: number, measured: SaidFacts['external_voltage'], since: number): boolean {
  return measured !== undefined && measured.value > least && measured.at > since
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

/** No vehicle has a lower voltage; a tracker without power may still measure some volts. */
const POWERED_V = 6
/** Trackers raise the alarm at 10 to 20 %. */
const CHARGED_PERCENT = 20
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
