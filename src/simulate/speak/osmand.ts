/* OsmAnd's trip recording to a web address, and whatever else can fetch a URL (traccar.org/osmand). Speed in knots. */
import type { Fix } from '../../../protocols/kit/index.ts'
import type { HttpSpeech } from './speech.ts'
import { knots } from './units.ts'

/** A GET a fix. */
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
