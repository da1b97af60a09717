/*
 * RFTrack (RF-V28 and other wearables). No specification is known: inferred from a request. HTTP POST of a form:
 *
 *   i=<IMEI>&gps={"y","x","a","z","t"}&gsm={…}&wifi=[…]&t=<ms>&bat=<b>&…
 *
 *   y, x  latitude, longitude      a  accuracy, metres      z  altitude, metres      t  ms UTC      Answer: {}
 *   b     in its lowest byte the charge of the battery, %
 */
import { type HttpRequest, jsonProtocol, parametersOf, parseJson, said } from '../kit/index.ts'

export default jsonProtocol({
  name: 'rftrack',
  devices: 'RFTrack wearables',
  acknowledges: 'fixes',
  http: { port: 5245 },
  content(_, request) {
    const parameters = parametersOf(request as HttpRequest)
    const gps = parameters.get('gps')
    return { i: parameters.get('i'), bat: parameters.get('bat'), gps: gps && parseJson(gps) }
  },
  device: 'i',
  fix: { time: 'gps/t', latitude: 'gps/y', longitude: 'gps/x', altitude: 'gps/z', accuracy: 'gps/a' },
  said: ({ bat }) => said({ battery_percent: typeof bat === 'string' ? Number(bat) & 0xff : undefined }),
  none: ({ gps }) => (gps ? 'no fix' : 'no place'),
  answer: '{}',
})
