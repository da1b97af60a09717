import { kmh } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { eachPosition, many, type ProtocolCases, post } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const PLACE = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }
const OYSTER = bytes('00'.repeat(12))
OYSTER.writeInt32LE(525_250_000, 1)
OYSTER.writeInt32LE(-134_100_000, 5)
OYSTER.set([135, 72, 190], 9)
const SIGNED = Buffer.from(OYSTER)
SIGNED[0] = 0x1f
SIGNED.writeUInt32BE(52_525_000, 1)
SIGNED.writeUInt32BE(0x8000_0000 + 13_410_000, 5)
SIGNED[9] = 90
const FLOATS = Buffer.from(bytes('2002'.padEnd(24, '0')))
FLOATS.writeFloatBE(52.525, 2)
FLOATS.writeFloatBE(-13.41, 6)
FLOATS[11] = 100
const AMBER = Buffer.from(bytes('0100b019'.padEnd(24, '0')))
AMBER.writeInt32BE(52.525 * 60_000, 4)
AMBER.writeInt32BE(-13.41 * 60_000, 8)

const callback = (fields: object) => post('/', JSON.stringify({ device: '1ABCDE', time: 1714558530, ...fields }))
const failed = Buffer.from(OYSTER)
failed[0] = 0x30

export default {
  costly: { payload: post('/', `{"device":"1","data":"${many('0')}"}`), arrays: post('/', many('[')) },
  frames: [
    {
      title: 'places in a message and in payloads',
      frames: [
        {
          frame: callback({ data: OYSTER.toString('hex') }),
          device: '1ABCDE',
          fixes: [{ ...PLACE, heading: 270, speed: kmh(72), said: { moving: false, battery_voltage: 4.75 } }],
        },
        {
          frame: callback({ data: failed.toString('hex') }),
          device: '1ABCDE',
          fixes: [
            { ...PLACE, heading: 270, speed: kmh(72), valid: false, said: { moving: true, battery_voltage: 4.75 } },
          ],
        },
        {
          frame: callback({ data: SIGNED.toString('hex') }),
          device: '1ABCDE',
          fixes: [{ ...PLACE, said: { battery_percent: 90 } }],
        },
        {
          frame: callback({ payload: FLOATS.toString('hex') }),
          device: '1ABCDE',
          fixes: [
            { ...PLACE, latitude: Math.fround(52.525), longitude: Math.fround(-13.41), said: { battery_percent: 100 } },
          ],
        },
        {
          frame: callback({
            latitude: '52.525',
            longitude: -13.41,
            positionTime: '1714558520',
            moving: true,
            battery: '3.6',
            batteryPercentage: 'null',
          }),
          device: '1ABCDE',
          fixes: [{ ...PLACE, time: '2024-05-01T10:15:20Z', said: { moving: true, battery_voltage: 3.6 } }],
        },
        {
          frame: callback({ computedLocation: { lat: 52.525, lng: -13.41, radius: 1983 } }),
          device: '1ABCDE',
          fixes: [{ ...PLACE, accuracy: 1983 }],
        },
        { frame: callback({ lat: 52, lng: -13 }), device: '1ABCDE', none: 'no place' },
        { frame: callback({ data: '020000000000000000000000' }), device: '1ABCDE', none: 'status' },
        { frame: callback({ data: '62' }), device: '1ABCDE', said: { alarms: ['sos'] } },
        { frame: callback({ data: '63' }), device: '1ABCDE' },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
    {
      title: 'a payload of Amber',
      settings: { model: 'Amber' },
      frames: [
        {
          frame: callback({ data: AMBER.toString('hex') }),
          device: '1ABCDE',
          fixes: [{ ...PLACE, said: { battery_voltage: 3.52 } }],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: '100 is the charge in percent: no battery has 100 V',
      frames: ['sigfox-004'],
      says: eachSaid(({ batteryV, ...rest }) => ({ ...rest, batteryPercent: batteryV })),
    },
    {
      reason: 'the message has a time, in "timestamp"',
      frames: ['sigfox-010'],
      says: eachPosition(() => ({ timeIsNow: undefined, time: '2024-02-08T07:00:10.000Z' })),
    },
  ],
} satisfies ProtocolCases
