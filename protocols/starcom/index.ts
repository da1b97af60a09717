/*
 * Starcom Helios, Titan, Kylos: "Starcom forwarding protocol" of its server, UDP, text, named values in any order:
 *
 *   |unit=I,longitude=O,latitude=Y,altitude=H,gps_valid=f,satellites=s,velocity=S,heading=C,datetime_actual=T,…|
 *
 *   I  id      Y, O  decimal degrees     f  1: fixed     S  km/h     C  degrees     T  YYYY/MM/DD hh:mm:ss, UTC
 *   ignition, emergency (0, 1), driver, main_voltage (V), backup_voltage: V, or the charge in percent (inferred from values of 96 and 100)
 *
 * Nothing is answered.
 */
import {
  DecodeError,
  heading,
  kmh,
  known,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  rfc3339,
  type Said,
  said,
} from '../kit/index.ts'

export default {
  name: 'starcom',
  devices: 'Starcom Helios, Titan, Kylos',
  udp: { port: 5190 },
  decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const text = frame.toString().trim()
  if (!text.startsWith('|unit=')) throw new DecodeError('unsupported')
  const values = new Map<string, string>()
  for (const pair of text.slice(1).split(/[,|]/)) {
    const at = pair.indexOf('=')
    if (at > 0) values.set(pair.slice(0, at), pair.slice(at + 1))
  }
  const device = values.get('unit')
  const [latitude, longitude, time] = ['latitude', 'longitude', 'datetime_actual'].map((name) => values.get(name))
  if (!latitude || !longitude || !time) return { device, none: 'no place', said: saidOf(values) }
  const measured = (name: string) => optionalNumber(values.get(name))
  const speed = known(measured('velocity'))
  const fix = {
    time: rfc3339(time.replaceAll('/', '-')),
    latitude: number(latitude),
    longitude: number(longitude),
    valid: values.get('gps_valid') === '1',
    altitude: measured('altitude'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(measured('heading')),
    satellites: known(measured('satellites')),
    said: saidOf(values),
  }
  return { device, fixes: [fix] }
}

function saidOf(values: ReadonlyMap<string, string>): Said | undefined {
  const ignition = values.get('ignition')
  const backup = optionalNumber(values.get('backup_voltage')) ?? -1
  return said({
    ignition: ignition ? ignition === '1' : undefined,
    external_voltage: optionalNumber(values.get('main_voltage')),
    [backup > MOST_VOLTS ? 'battery_percent' : 'battery_voltage']: backup,
    driver: values.get('driver'),
    alarms: values.get('emergency') === '1' ? ['sos'] : [],
  })
}

/** No backup battery has more. */
const MOST_VOLTS = 15
