/* Waybridge's own JSON over MQTT, as drawn in protocols/fix. */
import type { Fix } from '../../../protocols/kit/index.ts'
import type { MqttSpeech } from './speech.ts'

/** A publication holds one fix, or an array of a backlog. */
export const fix: MqttSpeech = {
  name: 'fix',
  protocol: 'fix',
  transport: 'mqtt',
  qos: 1,
  maxFixes: 50,
  topic: (id) => `devices/${id}/fix`,
  payload: (fixes) => JSON.stringify(fixes.length === 1 ? entry(fixes[0]) : fixes.map(entry)),
}

/** The same in a session of its own, each publication exactly once. */
export const fixOnce: MqttSpeech = { ...fix, name: 'fix-qos2', qos: 2 }

function entry({ time, latitude, longitude, ...rest }: Fix) {
  return { lat: latitude, lon: longitude, timestamp: time / 1000, ...rest }
}
