import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const list = (entry: string) => many(`${entry},`).slice(0, -1)

const GPS = {
  FType: 0,
  GpsUTC: '2024-05-01 10:15:30',
  Lat: 52.525,
  Long: 13.41,
  Alt: 34,
  Spd: 2000,
  Head: 270,
  PosAcc: 6,
  GpsStat: 3,
}
const record = (field: object) => ({ DateUTC: '2024-05-01 10:20:00', Fields: [{ FType: 2, DIn: 1 }, field] })
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: 20,
  heading: 270,
  accuracy: 6,
  said: { ignition: true },
}
const DEVICE = { sn: '12', imei: '352093086403655' }

export default {
  costly: {
    'records that are none': post('/', `{"Records":[${list('0')}]}`),
    'records without a date': post('/', `{"Records":[${list('{"Fields":[{"FType":0}]}')}]}`),
  },
  frames: [
    {
      title: 'records, and a report of a newer device',
      frames: [
        {
          frame: post(
            '/',
            JSON.stringify({ IMEI: DEVICE.imei, Records: [record(GPS), record({ ...GPS, GpsStat: 0 })] }),
          ),
          device: DEVICE.imei,
          fixes: [FIX, { ...FIX, valid: false }],
        },
        {
          frame: post(
            '/',
            JSON.stringify({
              IMEI: DEVICE.imei,
              Records: [
                {
                  Fields: [
                    { FType: 6, AnalogueData: { 1: 4100, 2: 1250 } },
                    { FType: 2, DIn: 2 },
                  ],
                },
              ],
            }),
          ),
          device: DEVICE.imei,
          none: 'no place',
          said: { ignition: false, battery_voltage: 4.1, external_voltage: 12.5 },
        },
        {
          frame: post('/', JSON.stringify({ device: DEVICE, date: 'x', counters: [{ id: 0, val: 5304 }] })),
          device: DEVICE.imei,
          none: 'no place',
          said: { battery_voltage: 5.304 },
        },
        {
          frame: post(
            '/',
            JSON.stringify({ IMEI: DEVICE.imei, Records: [{ ...record(GPS), Fields: [{ FType: 2 }] }] }),
          ),
          device: DEVICE.imei,
          none: 'no place',
        },
        {
          frame: post(
            '/',
            JSON.stringify({
              device: DEVICE,
              date: '2024-05-01T10:15:30.5Z',
              lat: 52.525,
              lng: 13.41,
              posAcc: 30.1,
              posInfo: { HDOP: 0.9 },
              inputs: 2,
              analogues: [{ id: 1, val: 4265 }],
            }),
          ),
          device: DEVICE.imei,
          fixes: [
            {
              time: '2024-05-01T10:15:30.500Z',
              latitude: 52.525,
              longitude: 13.41,
              accuracy: 30.1,
              hdop: 0.9,
              said: { ignition: false, battery_voltage: 4.265 },
            },
          ],
        },
        { frame: post('/', JSON.stringify({ device: DEVICE, date: 'x' })), device: DEVICE.imei, none: 'no place' },
      ],
    },
  ],
} satisfies ProtocolCases
