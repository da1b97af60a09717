import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const entry = (devid: string, lat: string) => ({ devid, etype: 'G_PING', lat, lon: lat, speed: '36', nlat: '1.5' })
const report = (...resource: readonly object[]) => post('/', JSON.stringify({ resource }))
const FIX = { time: '2026-11-20T12:00:00Z', latitude: 1.5, longitude: 1.5, speed: kmh(36) }

export default {
  costly: { 'entries that are none': post('/', `{"resource":[${many('0,').slice(0, -1)}]}`) },
  frames: [
    {
      title: 'places of one device and of two, and none',
      frames: [
        { frame: report(entry('1', '1.5')), device: '1', fixes: [FIX] },
        {
          frame: report(entry('1', '1.5'), entry('2', '1.5'), { ...entry('2', '1.5'), speed: '' }),
          fixes: [
            { ...FIX, device: '1' },
            { ...FIX, device: '2' },
            { ...FIX, device: '2', speed: undefined },
          ],
        },
        { frame: report(entry('1', '1,5')), device: '1', fixes: [FIX] },
        { frame: report(entry('1', '0.000000')), device: '1', none: 'no fix' },
        {
          frame: report({ ...entry('1', '1.5'), vbat: '12.26' }),
          device: '1',
          fixes: [{ ...FIX, said: { external_voltage: 12.26 } }],
        },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a place of 0 and 0 is none: the cell is named beside it',
      frames: ['valtrack-000'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
