/*
 * Particle Tracker One, Tracker SoM, Monitor One: the event `loc` through a webhook of the Particle cloud ("point schema",
 * docs.particle.io/assets/files/tracker; "Webhooks", docs.particle.io). HTTP POST, JSON; 200 acknowledges.
 *
 *   { "event": "loc", "coreid", "published_at", "data": text or object }
 *   data: { "cmd": "loc", "time", "loc": { "lck", "time", "lat", "lon", "alt", "hd", "spd", "h_acc", "v_acc" … } … }
 *
 *   lck  0: no fix                     lat, lon  degrees      hd  degrees      spd  m/s
 *   times  unix seconds, of `loc` that of the fix; published_at  ISO 8601      alt, h_acc, v_acc  metres
 *
 * Of other events nothing is known: a product chooses their content.
 */
import { jsonBody, jsonProtocol, objectOf, parseJson } from '../kit/index.ts'

export default jsonProtocol({
  name: 'particle',
  devices: 'Particle Tracker One, Tracker SoM, Monitor One',
  acknowledges: 'fixes',
  http: { port: 5270 },
  // What `loc` has without a fix, too: signal and charge.
  isPlaceOfOthers: (name) => name === 'cell' || name === 'batt',
  content(body) {
    const webhook = objectOf(jsonBody({ body }), 'the body')
    const { event, data } = webhook
    if (event !== 'loc') return { ...webhook, data: undefined }
    return { ...webhook, data: objectOf(typeof data === 'string' ? parseJson(data) : data, 'data') }
  },
  device: 'coreid',
  fix: {
    timeOrArrival: ['data/loc/time', 'data/time', 'published_at'],
    latitude: 'data/loc/lat',
    longitude: 'data/loc/lon',
    valid: 'data/loc/lck',
    altitude: 'data/loc/alt',
    speedMs: 'data/loc/spd',
    course: 'data/loc/hd',
    accuracyOr0: ['data/loc/h_acc', 'data/loc/hAcc'],
  },
  none: ({ event }) => (event === 'loc' ? 'no fix' : undefined),
})
