import type { Fix } from '../../../protocols/kit/index.ts'
import type { HttpSpeech, MqttSpeech } from './speech.ts'
import { kilometresPerHour, knots } from './write.ts'

/* OsmAnd's trip recording to a web address, and other programs that fetch a URL (traccar.org/osmand). Speed in knots. */

/** Sends one GET for each fix. */
export const osmand: HttpSpeech = {
  name: 'osmand',
  protocol: 'osmand',
  transport: 'http',
  maxFixes: 1,
  path: ([fix], id) => `/?${new URLSearchParams(parameters(fix, id)).toString()}`,
}

function parameters(fix: Fix, id: string): Record<string, string> {
  return {
    id,
    timestamp: String(fix.time / 1000),
    lat: fix.latitude.toFixed(7),
    lon: fix.longitude.toFixed(7),
    speed: knots(fix.speed),
    bearing: String(fix.heading ?? 0),
    altitude: String(fix.altitude ?? 0),
    hdop: String(fix.hdop ?? 1),
  }
}

/* OwnTracks for Android and iOS in MQTT mode: "JSON" of the booklet (owntracks.org/booklet/tech/json). */

/** Sends one publication for each fix. */
export const owntracks: MqttSpeech = {
  name: 'owntracks',
  protocol: 'owntracks',
  transport: 'mqtt',
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

/* Waybridge's own JSON over MQTT, as drawn in protocols/fix. */

/** A publication holds one fix, or an array of a backlog. */
export const fix: MqttSpeech = {
  name: 'fix',
  protocol: 'fix',
  transport: 'mqtt',
  maxFixes: 50,
  topic: (id) => `devices/${id}/fix`,
  payload: (fixes) => JSON.stringify(fixes.length === 1 ? entry(fixes[0]) : fixes.map(entry)),
}

function entry({ time, latitude, longitude, ...rest }: Fix) {
  return { lat: latitude, lon: longitude, timestamp: time / 1000, ...rest }
}
