/*
 * OpenGTS: the URL with which clients report to its "gprmc" servlet ("OpenGTS Configuration and Installation", GeoTelematic).
 * HTTP, any method; 200 acknowledges.
 *
 *   ?id=<device>[&dev=<device>][&acct=<account>][&alt=<metres>]&gprmc=$GPRMC,…[&code=0x<status>][&batt=<percent>]
 *
 * Status: F401 ignition on, F403 off, F841 panic, FD13 power failure, FD15 power restored.
 */
import {
  type Alarm,
  alarmsOf,
  DecodeError,
  type Fix,
  type HttpRequest,
  type Message,
  optionalParameter,
  type Protocol,
  parametersOf,
  rmcFix,
  type Session,
  said,
} from '../kit/index.ts'

export default {
  name: 'opengts',
  devices: 'GPSLogger, GPS2OpenGTS and other clients of OpenGTS',
  acknowledges: 'fixes',
  integrity: { none: 'of the NMEA sentence alone' },
  http: { port: 5159 },
  request,
} satisfies Protocol

function request(report: HttpRequest, session: Session): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('id') || parameters.get('dev') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'id is missing')
  const sentence = parameters.get('gprmc')
  const fix = sentence ? rmcFix(sentence, session) : undefined
  if (!fix) return { device, none: 'no place' }
  return { device, fixes: [{ ...fix, altitude: optionalParameter(parameters, 'alt'), said: saidIn(parameters) }] }
}

/** The charge of the battery, and what a status code says. */
function saidIn(parameters: URLSearchParams): Fix['said'] {
  const code = Number(parameters.get('code') ?? Number.NaN)
  return said({
    battery_percent: optionalParameter(parameters, 'batt'),
    ignition: code === IGNITION_ON ? true : code === IGNITION_OFF ? false : undefined,
    alarms: alarmsOf(ALARMS.get(code)),
  })
}

const [IGNITION_ON, IGNITION_OFF] = [0xf401, 0xf403]
const ALARMS: ReadonlyMap<number, Alarm> = new Map([
  [0xf841, 'sos'],
  [0xfd13, 'power_cut'],
  [0xfd15, 'power_restored'],
])
