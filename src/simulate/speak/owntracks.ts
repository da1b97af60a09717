/* OwnTracks for Android and iOS in MQTT mode: "JSON" of the booklet (owntracks.org/booklet/tech/json). */
import type { Fix } from '../../../protocols/kit/index.ts'
import type { MqttSpeech } from './speech.ts'
import { kilometresPerHour } from './units.ts'

/** A publication a fix. */
export const owntracks: MqttSpeech = {
  name: 'owntracks',
  protocol: 'owntracks',
  transport: 'mqtt',
  qos: 1,
  maxFixes: 1,
  topic: (id) => `owntracks/${id}/phone`,
  payload: ([fix]) => JSON.stringify(location(fix)),
}

function location(fix: Fix) {
  return {
    _type: 'location',
    tid: 'wb',
    tst: fix.time / 1000,
    lat: fix.latitude,
    lon: fix.longitude,
    alt: fix.altitude,
    vel: kilometresPerHour(fix.speed),
    cog: fix.heading,
    acc: fix.accuracy,
    conn: 'm',
    t: 'u',
  }
}
