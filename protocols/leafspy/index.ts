/*
 * Leaf Spy Pro: an app that reads Nissan Leafs ("LeafSpy Help" 1.5.0, Server). HTTP GET; there is no time in it.
 *
 *   ?user=<device>&pass=<secret>&Lat=…&Long=…&Elv=…&RPM=…&…        answer: "status":"0"
 *
 *   DevBat  charge of the phone, %      PwrSw  1: the car is on
 *   Lat, Long  degrees      Elv  metres      RPM  of the motor: 63 are 1 km/h
 *
 * A request without a user is answered with 400.
 */
import {
  type HttpRequest,
  kmh,
  type Message,
  numericParameter,
  optionalParameter,
  type Protocol,
  parametersOf,
  type Session,
  said,
  enveloped,
} from '../kit/index.ts'

export default {
  name: 'leafspy',
  devices: 'Leaf Spy Pro',
  acknowledges: 'fixes',
  http: { port: 5193 },
  request,
} satisfies Protocol

const RPM_PER_KMH = 63

function request(report: HttpRequest, session: Session): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('user') || undefined
  if (device === undefined) return { none: 'no device', response: { status: 400 } }
  const message = { device, secret: parameters.get('pass') || undefined, response: { body: '"status":"0"' } }
  return enveloped(message, () => contentOf(parameters, session.now))
}

function contentOf(parameters: ReturnType<typeof parametersOf>, now: number): Message {
  const latitude = numericParameter(parameters, 'Lat')
  const longitude = numericParameter(parameters, 'Long')
  const on = parameters.get('PwrSw')
  const more = said({
    ignition: on ? on !== '0' : undefined,
    battery_percent: optionalParameter(parameters, 'DevBat'),
  })
  if (latitude === undefined || longitude === undefined) return { none: 'no place', said: more }
  const rpm = optionalParameter(parameters, 'RPM')
  const fix = {
    time: now,
    latitude,
    longitude,
    valid: true,
    altitude: optionalParameter(parameters, 'Elv'),
    speed: rpm === undefined ? undefined : kmh(Math.abs(rpm) / RPM_PER_KMH),
    said: more,
  }
  return { fixes: [fix] }
}
