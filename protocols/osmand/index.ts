/*
 * OsmAnd, Traccar Client and other programs that can fetch a URL: "OsmAnd protocol" (traccar.org/osmand); "Log to custom URL" of
 * GPSLogger (gpslogger.app), also as Home Assistant has it set up ("GPSLogger", home-assistant.io). HTTP, any method; the answer is
 * the status. Parameters, in the query or as a form:
 *
 *   id | deviceid | device                 timestamp | time  unix seconds or ms, ISO 8601 or yyyy-MM-dd HH:mm:ss, or HH:mm:ss with
 *                                          `date`; without any the arrival
 *   lat | latitude, lon | longitude        bearing | heading | direction | dir  degrees      accuracy | acc  metres
 *   location=<lat>,<lon>                   altitude | alt  metres      hdop                  sat  satellites
 *   token  the device's secret             s | spd  m/s                                      valid  true, false, 1, 0
 *   speed  knots; beside `latitude`, which OsmAnd does not have, m/s
 *   batt | battery  %                      charge, ignition, motion  true, false, 1, 0       driverUniqueId
 *   alarm  sos, powerCut … : see ALARMS
 *
 * or JSON, as Traccar Client sends it from version 9 on, with `token` in the query; `location` may be an array of them:
 *
 *   { "device_id", "location": { "timestamp", "coords": { "latitude", "longitude", "accuracy", "speed", "heading", "altitude" },
 *     "is_moving", "battery": { "level" (1: full), "is_charging" } } }
 *
 *   timestamp  ISO 8601      speed  m/s, −1: unknown       heading  degrees, −1: unknown
 *
 * or JSON with `locations`, as Overland sends it: overland.ts.
 */
import {
  type Alarm,
  alarmsOf,
  bodyText,
  DecodeError,
  digitsOf,
  eachReadable,
  type Fix,
  type HttpRequest,
  heading,
  type JsonObject,
  jsonBody,
  jsonTime,
  knots,
  known,
  type Message,
  number,
  objectMember,
  objectOf,
  optionalNumber,
  type Protocol,
  placedFix,
  type Said,
  type Session,
  said,
  enveloped,
} from '../kit/index.ts'
import { overlandMessage, overlandToken } from './overland.ts'

export default {
  name: 'osmand',
  devices: 'OsmAnd, Traccar Client, GPSLogger, Overland, anything that can fetch a URL',
  acknowledges: 'fixes',
  http: { port: 5055 },
  decode,
  request,
} satisfies Protocol

function request({ uri, headers, body }: HttpRequest, session: Session): Message {
  const [, query = ''] = /^[^?]*\?(.*)$/s.exec(uri) ?? []
  const text = bodyText({ body }).trim()
  const message = text.startsWith('{')
    ? readMessage(query, body, session)
    : readMessage(`${query}&${text}`, undefined, session)
  const isNamed = message.device !== undefined || message.fixes?.every(({ device }) => device !== undefined)
  if (!isNamed) throw new DecodeError('malformed', 'id is missing')
  return message.response ? { ...message, secret: message.secret ?? overlandToken(headers) } : message
}

/** A publication: the parameters, also as a whole URL, or JSON. Its topic names the device. */
function decode(frame: Buffer, session: Session): Message {
  const text = frame.toString().trim()
  return text.startsWith('{')
    ? readMessage('', frame, session)
    : readMessage(text.replace(PATH, ''), undefined, session)
}

const PATH = /^[^=&]*\?/

function readMessage(query: string, json: Buffer | undefined, session: Session): Message {
  const parameters = new URLSearchParams(query)
  const device = first(parameters, 'id', 'deviceid', 'device')
  const secret = parameters.get('token') || undefined
  return enveloped({ device, secret }, () => (json ? readJson(json, session) : readParameters(parameters, session)))
}

function readParameters(parameters: URLSearchParams, session: Session): Message {
  const [latitude, longitude] = placeOf(parameters)
  const beside = saidOf(parameters)
  if (!latitude && !longitude) return { none: 'no place', said: beside }
  const measured = (...names: readonly string[]) => optionalNumber(first(parameters, ...names))
  const fix: Fix = {
    time: jsonTime(measuredAt(parameters)) ?? session.now,
    latitude: number(latitude ?? ''),
    longitude: number(longitude ?? ''),
    valid: !['false', '0'].includes(parameters.get('valid') ?? ''),
    altitude: measured('altitude', 'alt'),
    speed: known(speedOf(parameters)),
    heading: heading(measured('bearing', 'heading', 'direction', 'dir')),
    accuracy: known(measured('accuracy', 'acc')),
    hdop: known(measured('hdop')),
    satellites: known(measured('sat')),
    said: beside,
  }
  return { fixes: [fix] }
}

function saidOf(parameters: URLSearchParams): Said | undefined {
  const flag = (name: string) => FLAGS[parameters.get(name) ?? '']
  const alarm = ALARMS[parameters.get('alarm') ?? '']
  return said({
    ignition: flag('ignition'),
    moving: flag('motion'),
    charging: flag('charge'),
    battery_percent: optionalNumber(first(parameters, 'batt', 'battery')),
    driver: parameters.get('driverUniqueId') ?? undefined,
    alarms: alarmsOf(alarm),
  })
}

const FLAGS: Readonly<Record<string, boolean | undefined>> = { true: true, 1: true, false: false, 0: false }

/** Alarms by the names that the parameter `alarm` has for them. */
const ALARMS: Readonly<Record<string, Alarm | undefined>> = {
  sos: 'sos',
  powerCut: 'power_cut',
  powerRestored: 'power_restored',
  powerOff: 'power_off',
  lowBattery: 'low_battery',
  lowPower: 'low_power',
  jamming: 'jamming',
  tampering: 'tampering',
  removing: 'tampering',
  tow: 'tow',
  vibration: 'vibration',
  accident: 'accident',
  gpsAntennaCut: 'gps_antenna_cut',
  movement: 'movement',
}

/** When the place was measured; undefined where nothing says so. `time` may also be a time of day beside a date. */
function measuredAt(parameters: URLSearchParams): string | undefined {
  const [date, time] = [parameters.get('date'), first(parameters, 'timestamp', 'time')]
  return date && time && TIME_OF_DAY.test(time) ? `${date}T${time}` : time
}

const TIME_OF_DAY = /^\d{2}:\d{2}:\d{2}/

/** The first of parameters, of these names, that is not empty. */
function first(parameters: URLSearchParams, ...names: readonly string[]): string | undefined {
  return names.map((name) => parameters.get(name)).find((value) => value) ?? undefined
}

function placeOf(parameters: URLSearchParams): readonly (string | undefined)[] {
  const location = parameters.get('location')
  if (location === null) return [first(parameters, 'lat', 'latitude'), first(parameters, 'lon', 'longitude')]
  const [, latitude, longitude] = WITH_COMMAS.exec(location) ?? []
  return latitude === undefined ? location.split(',') : [latitude, longitude]
}

/** Two numbers with decimal commas. */
const WITH_COMMAS = /^\s*([-+]?\d+,\d+)\s*[,;]\s*([-+]?\d+,\d+)\s*$/

/** Metres a second. */
function speedOf(parameters: URLSearchParams): number | undefined {
  const speed = optionalNumber(first(parameters, 's', 'spd'))
  return speed ?? optionalNumber(parameters.get('speed'), parameters.has('latitude') ? undefined : knots)
}

function readJson(body: Buffer, session: Session): Message {
  const { device_id: id, location, locations: batch } = objectOf(jsonBody({ body }), 'the body')
  if (Array.isArray(batch)) return overlandMessage(batch, session)
  const name = typeof id === 'number' ? digitsOf(bodyText({ body }), 'device_id', id) : id
  const device = typeof name === 'string' && name !== '' ? name : undefined
  if (location === undefined || location === null) return { device, none: 'no place' }
  const locations = Array.isArray(location) ? location : [location]
  const { good, unreadable } = eachReadable(locations, (each) => fixOf(objectOf(each, 'location'), session))
  return good.length > 0 ? { device, fixes: good, unreadable } : { device, none: 'no place' }
}

const placeOfJson = placedFix({
  timeOrArrival: 'timestamp',
  latitude: 'coords/latitude',
  longitude: 'coords/longitude',
  altitude: 'coords/altitude',
  speedMs: 'coords/speed',
  course: 'coords/heading',
  accuracy: 'coords/accuracy',
})

function fixOf(location: JsonObject, session: Session): Fix {
  const battery = objectMember(location, 'battery')
  const { is_moving: moving } = location
  return {
    ...placeOfJson(location, session),
    said: said({
      moving: typeof moving === 'boolean' ? moving : undefined,
      battery_percent: optionalNumber(battery.level, (level) => Math.round(level * 1000) / 10),
      charging: typeof battery.is_charging === 'boolean' ? battery.is_charging : undefined,
    }),
  }
}
