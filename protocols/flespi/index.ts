/*
 * flespi (Gurtam): its HTTP and MQTT streams, and messages in its JSON ("flespi message" and "mqtt", flespi.com/protocols).
 * One object or an array of them; those of a stream may be of several devices:
 *
 *   { "ident", "timestamp", "position.latitude", "position.longitude", "position.altitude"?, "position.speed"?,
 *     "position.direction"?, "position.satellites"?, "position.hdop"?, "position.valid"? … }
 *
 *   ident  the device                timestamp  unix seconds, or RFC 3339      altitude  metres     speed  km/h
 *   direction  degrees               valid  true where it is left out          HTTP: 200 acknowledges all of them
 *
 * Beside the position: engine.ignition.status, movement.status, external.powersource.voltage, battery.voltage, battery.level,
 * battery.charging.status, ibutton.code, rfid.code, gnss.antenna.cut.status.
 *
 * Over MQTT a stream or a device publishes to devices/<id>/flespi; `ident` in a message names its device, and may be left out.
 */
import { alarmsOf, jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'flespi',
  devices: 'flespi streams, and whatever sends its JSON',
  acknowledges: 'fixes',
  http: { port: 5149 },
  mqtt: true,
  each: '',
  device: 'ident',
  fix: {
    timeOrArrival: 'timestamp',
    latitude: 'position.latitude',
    longitude: 'position.longitude',
    valid: 'position.valid',
    altitude: 'position.altitude',
    speedKmh: 'position.speed',
    course: 'position.direction',
    hdop: 'position.hdop',
    satellites: 'position.satellites',
  },
  said: {
    ignition: 'engine.ignition.status',
    moving: 'movement.status',
    external_voltage: 'external.powersource.voltage',
    battery_voltage: 'battery.voltage',
    battery_percent: 'battery.level',
    charging: 'battery.charging.status',
    driver: ['ibutton.code', 'rfid.code'],
    alarms: (message) => alarmsOf(message['gnss.antenna.cut.status'] === true && 'gps_antenna_cut'),
  },
})
