import { eachPosition, many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const REPORT = { device: 'abc-1', time: 1714558530, latitude: 52.525, longitude: -13.41, altitude: 34, heading: 270 }
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34, heading: 270 }
const report = (fields: object) => post('/', JSON.stringify({ ...REPORT, ...fields }))

export default {
  costly: { arrays: post('/', many('[')), digits: post('/', `{"device":"1","latitude":"${many('1')}","longitude":1}`) },
  frames: [
    {
      title: 'reports with and without a time and a place',
      frames: [
        { frame: report({}), device: 'abc-1', fixes: [FIX] },
        { frame: report({ time: null }), device: 'abc-1', fixes: [{ ...FIX, time: '2026-11-20T12:00:00Z' }] },
        { frame: report({ latitude: null, longitude: null }), device: 'abc-1', none: 'no place' },
        { frame: report({ latitude: undefined, lat: 52.525 }), device: 'abc-1', fixes: [] },
        { frame: report({ device: '' }), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: '"time" is the time of the report in unix seconds',
      frames: ['outsafe-000'],
      says: eachPosition(() => ({ timeIsNow: undefined, time: '2020-05-12T09:59:28.000Z' })),
    },
  ],
} satisfies ProtocolCases
