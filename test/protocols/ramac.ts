import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const REPORT = { DeviceId: 'A10009', PacketType: 1, UpdateDate: '2024-05-01 10:20:00' }
const PLACE = { Latitude: -25.875867, Longitude: 28.179579 }
const FIX = { time: '2024-05-01T10:20:00Z', latitude: -25.875867, longitude: 28.179579 }
const report = (fields: object) => post('/', JSON.stringify({ ...REPORT, ...fields }))
const OK = {
  device: 'A10009',
  response: { headers: { 'content-type': 'application/json' }, body: '{"CaseID":1,"EventID":1}' },
}

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'new places, older ones and a status',
      frames: [
        { frame: report({ ...PLACE, LastLocation: 0 }), fixes: [FIX], ...OK },
        { frame: report({ ...PLACE, LastLocation: 1 }), fixes: [{ ...FIX, valid: false }], ...OK },
        {
          frame: report({ ...PLACE, LocationDateTime: '2024-05-01 10:15:30' }),
          fixes: [{ ...FIX, time: '2024-05-01T10:15:30Z' }],
          ...OK,
        },
        {
          frame: report({ Battery: 0.1, BatteryPercentage: 4, AlertMessage: 'Low Battery' }),
          none: 'no place',
          said: { battery_voltage: 0.1, battery_percent: 4, alarms: ['low_battery'] },
          ...OK,
        },
        {
          frame: report({ ...PLACE, AlertMessage: 'P1 Panic', IsMoving: 1 }),
          fixes: [{ ...FIX, said: { moving: true, alarms: ['sos'] } }],
          ...OK,
        },
        { frame: report({ AlertMessage: '' }), none: 'no place', ...OK },
        { frame: report({ DeviceId: null }), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'AlertMessage is "Low Battery" and "P1 Panic"',
      frames: ['ramac-000', 'ramac-002'],
      says: ({ id, positions }) => ({
        positions: positions.map((each) => ({
          ...each,
          said: { ...each.said, alarms: [id === 'ramac-000' ? 'lowBattery' : 'sos'] },
        })),
      }),
    },
  ],
} satisfies ProtocolCases
