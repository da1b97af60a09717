import { expect, it } from 'vitest'
import { ALARMS } from '../../protocols/kit/said.ts'
import { type CopiedFix, countCopied, fixesIn, packCopied, withoutDevices } from '../../src/store/index.ts'

const FIX: CopiedFix = {
  device: '356307042441013',
  courier: '42',
  route: '1001',
  timestamp: 1_790_000_000,
  latitude: 52.5123456,
  longitude: -13.4,
  accuracy: 5,
  heading: 359,
  speed: 13.89,
  altitude: -12,
  satellites: 11,
}

it.each<[what: string, values: Partial<CopiedFix>]>([
  ['all that a fix can say', {}],
  ['a device whose id is text', { device: 'van-ä/7' }],
  ['a device with leading zeros', { device: '0123' }],
  ['the longest ids', { device: '9'.repeat(19), courier: '9223372036854775807', route: '9223372036854775807' }],
  ['no route', { courier: undefined, route: undefined }],
  ['a text as id and no route', { device: 'x', courier: undefined, route: undefined }],
  ['what is not known', { heading: undefined, speed: undefined, altitude: undefined, satellites: undefined }],
  [
    'what the tracker said',
    { said: { ignition: true, moving: false, external_voltage: 12.437, battery_percent: 87.5 } },
  ],
  [
    'all that a tracker can say',
    {
      said: {
        ignition: false,
        moving: true,
        charging: true,
        external_voltage: 402.125,
        battery_voltage: 3.9,
        battery_percent: 100,
        driver: 'Ä-1234',
        alarms: ALARMS,
      },
    },
  ],
])('an entry of a copy log keeps %s', (_, values) => {
  const fix = { ...FIX, ...values }
  const [read] = fixesIn(packCopied(fix))
  expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(fix)))
})

it('an entry of a copy log has no `said` if the tracker said nothing', () => {
  expect(Object.keys(JSON.parse(JSON.stringify(fixesIn(packCopied(FIX))[0])))).not.toContain('said')
})

it('an entry of a copy log takes at most 40 bytes for a single fix without what the tracker said', () => {
  const { length } = packCopied({ ...FIX, courier: '54321', route: '987654' })
  // Redis adds two bytes to an entry.
  expect(length + 2).toBeLessThanOrEqual(40)
})

it('an entry of a copy log keeps the places of deleted fixes', () => {
  const other = { ...FIX, device: 'other', said: { ignition: true } }
  const entry = Buffer.concat([packCopied(FIX), packCopied(other), packCopied(FIX)])
  const left = withoutDevices(entry, (device) => device === 'other') ?? Buffer.alloc(0)
  expect(fixesIn(left).map((fix) => fix?.device)).toEqual([FIX.device, undefined, FIX.device])
  expect(countCopied(left)).toBe(3)
  expect(withoutDevices(left, (device) => device === 'other')).toBeUndefined()
})
