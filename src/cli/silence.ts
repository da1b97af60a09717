import type { DeviceAnswer } from './answers.ts'

/**
 * Whether a device has no connection and was not heard for a quarter of an hour: many hang up between two packets. `now` in ms
 * UTC.
 */
export function isSilent({ state, last_heard }: Pick<DeviceAnswer, 'state' | 'last_heard'>, now: number): boolean {
  return state === 'offline' && last_heard !== undefined && now - Date.parse(last_heard.at) > SILENT_MS
}

const SILENT_MS = 15 * 60_000
