/*
 * TeraTrack electronic locks. No specification is known: inferred from frames. TCP, JSON objects, all values text:
 *
 *   {"MDeviceID":"I","DateTime":"YYYY-MM-DD hh:mm:ss","Latitude":"Y","Longitude":"O","Speed":"S","MessageAck":"1",…}
 *
 *   I  id     Y, O  decimal degrees, signed     S  km/h
 *   Power  own battery, %     CardNo  driver     LowPower, LockCutOff  1: battery low, rope cut
 *
 * Answer where MessageAck is not 0: {01}
 */
import { alarmsOf, jsonFix, jsonObjects, jsonProtocol } from '../kit/index.ts'

const fixOf = jsonFix({ time: 'DateTime', latitude: 'Latitude', longitude: 'Longitude', speedKmh: 'Speed' })

export default jsonProtocol({
  name: 'teratrack',
  devices: 'TeraTrack electronic locks',
  acknowledges: 'fixes',
  tcp: { port: 5239, frame: jsonObjects() },
  device: 'MDeviceID',
  fix: (lock, session) => (lock.DateTime ? fixOf(lock, session) : undefined),
  none: () => undefined,
  said: {
    battery_percent: 'Power',
    driver: 'CardNo',
    alarms: ({ LowPower: low, LockCutOff: cut }) => alarmsOf(low === '1' && 'low_battery', cut === '1' && 'tampering'),
  },
  answer: ({ MessageAck: wanted }) => (String(wanted) === '0' ? undefined : '{01}'),
})
