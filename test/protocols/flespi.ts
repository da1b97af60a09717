import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

const MESSAGE = {
  ident: '352093086403655',
  timestamp: 1714558530.25,
  'position.latitude': 52.525,
  'position.longitude': 13.41,
  'position.altitude': 34,
  'position.speed': 36,
  'position.direction': 270,
  'position.satellites': 8,
  'position.hdop': 0.9,
}
const FIX = {
  time: '2024-05-01T10:15:30.250Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 8,
  hdop: 0.9,
}
const OTHER = { ident: 'van-2', 'position.latitude': 1, 'position.longitude': 2, 'position.valid': false }
const OTHER_FIX = { time: '2026-11-20T12:00:00Z', latitude: 1, longitude: 2, valid: false }

const TELEMETRY = {
  'engine.ignition.status': true,
  'movement.status': false,
  'external.powersource.voltage': 12.5,
  'battery.voltage': 4.1,
  'battery.level': 87,
  'rfid.code': 'AB12',
  'gnss.antenna.cut.status': true,
}

export default {
  costly: { 'messages that are none': list('0'), 'messages of many devices': list('{}'), arrays: many('[') },
  frames: [
    {
      title: 'a stream of one device, of several, and without a place',
      transport: 'http',
      frames: [
        { frame: post('/', JSON.stringify([MESSAGE, MESSAGE])), device: MESSAGE.ident, fixes: [FIX, FIX] },
        {
          frame: post('/', JSON.stringify([MESSAGE, OTHER])),
          fixes: [
            { ...FIX, device: MESSAGE.ident },
            { ...OTHER_FIX, device: 'van-2' },
          ],
        },
        {
          frame: post('/', JSON.stringify([{ ...MESSAGE, ...TELEMETRY }])),
          device: MESSAGE.ident,
          fixes: [
            {
              ...FIX,
              said: {
                ignition: true,
                moving: false,
                external_voltage: 12.5,
                battery_voltage: 4.1,
                battery_percent: 87,
                driver: 'AB12',
                alarms: ['gps_antenna_cut'],
              },
            },
          ],
        },
        { frame: post('/', '[{"ident":"van-2","din":1}]'), device: 'van-2', none: 'no place' },
        {
          frame: post('/', '[{"ident":"van-2","position.latitude":null,"position.longitude":null}]'),
          device: 'van-2',
          none: 'no place',
        },
        { frame: post('/', 'x'), error: 'malformed' },
        { frame: post('/', '{"device":"van-2","lat":51.1,"lon":13.4,"time":1714558530}'), error: 'malformed' },
        { frame: post('/', '{}'), error: 'malformed' },
        { frame: post('/', '{"ident":"van-2","lat":51.1,"lon":13.4}'), device: 'van-2', fixes: [], unreadable: [0] },
        {
          frame: post('/', JSON.stringify([MESSAGE, { ident: MESSAGE.ident, lat: 51.1, lon: 13.4 }, { lat: 1 }])),
          device: MESSAGE.ident,
          fixes: [FIX],
          unreadable: [1, 2],
        },
      ],
    },
    {
      title: 'a publication with a time as text',
      transport: 'mqtt',
      frames: [
        {
          frame: JSON.stringify({ ...OTHER, timestamp: '2024-05-01T10:15:30' }),
          device: 'van-2',
          fixes: [{ ...OTHER_FIX, time: '2024-05-01T10:15:30Z' }],
        },
      ],
    },
  ],
} satisfies ProtocolCases
