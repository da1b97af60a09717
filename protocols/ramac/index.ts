/*
 * RAMAC P1: Sigfox panic buttons, whose platform forwards reports over HTTP as JSON. No specification is known: inferred from
 * requests.
 *
 *   { "DeviceId", "PacketType", "UpdateDate", "Latitude"?, "Longitude"?, "LocationDateTime"?, "LastLocation"?,
 *     "Battery"?, "BatteryPercentage"?, "IsMoving"?, "AlertMessage"?, … }
 *
 *   UpdateDate, LocationDateTime  YYYY-MM-DD hh:mm:ss: time of the report, and of the place in it
 *   LastLocation  1: the place is an older one                        Answer: {"CaseID":1,"EventID":1}
 *
 * The units of Speed, COG and EstimatedAccuracy are not known; they are not read. Times are taken for UTC.
 */
import { type Alarm, alarmsOf, jsonProtocol } from '../kit/index.ts'

/** By AlertMessage. */
const ALERTS: Readonly<Record<string, Alarm>> = { 'low battery': 'low_battery', 'p1 panic': 'sos' }

export default jsonProtocol({
  name: 'ramac',
  devices: 'RAMAC P1',
  acknowledges: 'fixes',
  http: { port: 5251 },
  device: 'DeviceId',
  fix: {
    time: ['LocationDateTime', 'UpdateDate'],
    latitude: 'Latitude',
    longitude: 'Longitude',
    valid: ({ LocationDateTime: located, LastLocation: old }) => Boolean(located) || Number(old ?? 0) === 0,
  },
  said: {
    moving: 'IsMoving',
    battery_voltage: 'Battery',
    battery_percent: 'BatteryPercentage',
    alarms: ({ AlertMessage: alert }) => alarmsOf(ALERTS[String(alert).toLowerCase()]),
  },
  answer: '{"CaseID":1,"EventID":1}',
})
