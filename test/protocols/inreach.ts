import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const ID = '300434030000000'
const POINT = { latitude: 52.525, longitude: -13.41, altitude: 34, gpsFix: 3, course: 270, speed: 36 }
const event = (more: object = {}) => ({
  imei: ID,
  messageCode: 0,
  freeText: null,
  timeStamp: 1714558530000,
  addresses: [],
  status: { autonomous: 0, lowBattery: 2, intervalChange: 0, resetDetected: 0 },
  point: POINT,
  ...more,
})
const outbound = (...Events: readonly object[]) => post('/', JSON.stringify({ Version: '2.0', Events }))
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
}
const NO_FIX = { latitude: 0, longitude: 0, altitude: 0, gpsFix: 0, course: 0, speed: 0 }

export default {
  costly: {
    'events that are none': post('/', `{"Version":"2.0","Events":[${many('{},').slice(0, -1)}]}`),
    arrays: post('/', many('[')),
  },
  frames: [
    {
      title: 'events of one device, of several, and without a place',
      frames: [
        { frame: outbound(event()), device: ID, fixes: [FIX] },
        {
          frame: outbound(event(), event({ timeStamp: 1714558540000 }), {}),
          device: ID,
          fixes: [FIX, { ...FIX, time: '2024-05-01T10:15:40Z' }],
          unreadable: [2],
        },
        {
          frame: outbound(event(), event({ imei: '300434030000001' })),
          fixes: [
            { ...FIX, device: ID },
            { ...FIX, device: '300434030000001' },
          ],
        },
        {
          frame: outbound(event({ messageCode: 4 }), event({ messageCode: 6, point: null })),
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        {
          frame: outbound(event({ messageCode: 3, freeText: 'Hello', point: NO_FIX })),
          device: ID,
          fixes: [{ time: FIX.time, latitude: 0, longitude: 0, altitude: 0, speed: 0, heading: 0, valid: false }],
        },
        { frame: outbound(event({ messageCode: 8 }), event({ point: null })), device: ID, none: 'no place' },
        { frame: post('/', '{"Version":"2.0"}'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
