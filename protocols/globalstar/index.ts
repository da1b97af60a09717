/*
 * Globalstar SmartOne, STX2, STX3 and AtlasTrax: the simplex messages that the Globalstar back office forwards over HTTP, as
 * XML ("StuMessage", cody.glpconnect.com/XSD) or as JSON. The payload: "SmartOne user manual" 1.4, table 1.
 *
 *   <stuMessages messageID="M"> <stuMessage> <esn>E</esn> <unixTime>T</unixTime> … <payload …>0xPPPP…</payload> …
 *   { "entry": { "devices": [{ "gpsCoordinate": { "latitude", "longitude" }, "deviceIdentify": { "esn", "unixTime" },
 *                              "deviceInfo": { "gpsDataValid": "Valid" | "Invalid" } }] } }
 *
 *   E  serial number of the device     T  unix seconds     P  9 bytes: ff AAAAAA OOOOOO ii ss
 *   f  bits 0–1 type: 0 position, 1 and 2 of the user, 3 diagnosis; bit 2: battery to be replaced, 3: no fix     s  bit 6: moving
 *   A, O  latitude in 90/2^23, longitude in 180/2^23 degrees, signed
 *
 * The answer names M; the back office sends again what is not answered with <state>pass</state>.
 */
import { bodyText, jsonProtocol, objectMember, type Protocol } from '../kit/index.ts'
import { xmlMessage } from './xml.ts'

const json = jsonProtocol({
  name: 'globalstar',
  devices: 'Globalstar SmartOne, STX2, STX3, AtlasTrax',
  acknowledges: 'fixes',
  http: { port: 5185 },
  each: 'entry/devices',
  device: 'deviceIdentify/esn',
  fix: {
    time: 'deviceIdentify/unixTime',
    latitude: 'gpsCoordinate/latitude',
    longitude: 'gpsCoordinate/longitude',
    valid: (device) => objectMember(device, 'deviceInfo').gpsDataValid !== 'Invalid',
  },
  none: 'no fix',
  answer: '{"status":"ok"}',
})

export default {
  ...json,
  request(request, session) {
    const text = bodyText(request)
    return text.trimStart().startsWith('{') ? json.request(request, session) : xmlMessage(text, session.now)
  },
} satisfies Protocol
