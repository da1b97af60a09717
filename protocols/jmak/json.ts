import { digitsOf, jsonProtocol, numberOf, objectOf, parseJson } from '../kit/index.ts'

/** Frames of JSON. */
export default jsonProtocol({
  name: 'jmak',
  devices: 'JMAK trackers',
  acknowledges: 'fixes',
  content(frame) {
    const text = frame.toString()
    const message = objectOf(parseJson(text), 'the message')
    return { ...message, imei: digitsOf(text, 'imei', numberOf(message, 'imei')) }
  },
  device: 'imei',
  fix: {
    time: 'ts',
    latitude: 'gps/0',
    longitude: 'gps/1',
    valid: 'fix',
    altitude: 'alt',
    speedKmh: 'speed',
    course: 'azi',
    hdop: 'hdop',
    satellites: 'nsat',
  },
  answer: 'ACK',
})
