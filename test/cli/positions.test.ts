import { describe, expect, it } from 'vitest'
import { gatewayIn, waybridge, waybridgeProcess } from '../support/cli.ts'

const POSITIONS = [
  { lat: 52.52, lon: 13.405, timestamp: 1795156200, server_timestamp: 1795156201.25 },
  { lat: -0.0000001, lon: 179.9999999, timestamp: 1795156210.5 },
]
const TEXT = JSON.stringify(POSITIONS).replaceAll(',', ', ')
const WHICH = ['positions', '--company', '7', '--route', '9223372036854775807']

async function served(text = TEXT) {
  const server = await gatewayIn('UTC', () => ({ text }))
  return { server, positions: (...args: string[]) => waybridge([...WHICH, ...server.options, ...args]) }
}

it('positions prints the JSON of the answer', async () => {
  const { server, positions } = await served()
  const ended = await positions('--from', '1795154400', '--to', '1795161600')
  expect(ended).toEqual({ code: 0, out: `${TEXT}\n`, errors: '' })
  expect(server.asked.slice(1)).toMatchObject([
    {
      method: 'GET',
      path: '/api/v2/companies/7/routes/9223372036854775807/courier-positions',
      query: { from: '1795154400', to: '1795161600' },
    },
  ])
})

it('positions prints CSV', async () => {
  const { out } = await (await served()).positions('--from', '0', '--csv')
  expect(out.split('\n')).toEqual([
    'timestamp,time,lat,lon,server_timestamp',
    '1795156200,2026-11-20T06:30:00Z,52.52,13.405,1795156201.25',
    '1795156210.5,2026-11-20T06:30:10.500Z,-1e-7,179.9999999,',
    '',
  ])
})

it('positions prints GeoJSON with the track and its points', async () => {
  const { out } = await (await served()).positions('--from', '0', '--geojson')
  const [first, second] = [
    [13.405, 52.52],
    [179.9999999, -0.0000001],
  ]
  expect(JSON.parse(out)).toEqual({
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', geometry: { type: 'LineString', coordinates: [first, second] }, properties: {} },
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: first },
        properties: { timestamp: 1795156200, time: '2026-11-20T06:30:00Z', server_timestamp: 1795156201.25 },
      },
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: second },
        properties: { timestamp: 1795156210.5, time: '2026-11-20T06:30:10.500Z' },
      },
    ],
  })
})

it('positions prints GeoJSON without a track for a single position', async () => {
  const { out } = await (await served(JSON.stringify(POSITIONS.slice(0, 1)))).positions('--from', '0', '--geojson')
  expect((JSON.parse(out) as { features: { geometry: { type: string } }[] }).features).toMatchObject([
    { geometry: { type: 'Point' } },
  ])
})

it.each([
  ['--csv', '\n9223372036854775807,,52.5,13.4,1\n'],
  ['--geojson', '"timestamp":9223372036854775807,'],
])('positions keeps all digits of a timestamp: %s', async (format, text) => {
  const { positions } = await served('[{"lat":52.5,"lon":13.4,"timestamp":9223372036854775807,"server_timestamp":1}]')
  expect((await positions('--from', '0', format)).out).toContain(text)
})

it.each([
  ['--csv', 'timestamp,time,lat,lon,server_timestamp\n'],
  ['--geojson', '{"type":"FeatureCollection","features":[]}\n'],
])('positions prints an empty list: %s', async (format, text) => {
  expect((await (await served('[]')).positions('--from', '0', format)).out).toBe(text)
})

it('positions can cover a month', async () => {
  const many = Array.from({ length: 270_000 }, (_, n) => ({ lat: 52.5, lon: 13.4, timestamp: n }))
  const { code, out } = await (await served(JSON.stringify(many))).positions('--from', '0', '--csv')
  expect([code, out.split('\n').length]).toEqual([0, 270_002])
  expect(out.slice(-50)).toMatch(/\n269999,1970-01-04T02:59:59Z,52\.5,13\.4,\n$/)
})

it.each([
  ['{"message":"ok"}'],
  ['<html>'],
  ['null'],
  ['[{"lat":52.5,"lon":13.4,"timestamp":1},null]'],
  ['[{"lat":52.5,"lon":"13.4","timestamp":1}]'],
])('positions reports an answer that is no list of positions with exit code 1: %s', async (text) => {
  for (const format of ['--csv', '--geojson']) {
    const ended = await (await served(text)).positions('--from', '0', format)
    const errors = 'The answer is not a list of positions; print it without --csv and --geojson.\n'
    expect(ended).toEqual({ code: 1, out: '', errors })
  }
  expect((await (await served(text)).positions('--from', '0')).out).toBe(`${text}\n`)
})

describe('local times of the gateway', () => {
  const START = 1795154400

  it.each([
    ['2026-11-20T06:00:00Z', 'UTC', START],
    ['2026-11-20T06:00:00.9Z', 'UTC', START],
    ['2026-11-20 06:00', 'UTC', START],
    ['2026-11-20 07:00', 'Europe/Berlin', START],
    ['2026-11-20', 'Europe/Berlin', START - 7 * 3600],
    ['1795154400', 'Europe/Berlin', START],
  ])('positions reads the local time %s in %s as %i', async (from, zone, seconds) => {
    const server = await gatewayIn(zone, () => ({ text: '[]' }))
    const env = { TZ: 'America/New_York' }
    await waybridge([...WHICH, ...server.options, '--from', from, '--to', from], { env })
    expect(server.asked.at(-1)!.query).toEqual({ from: String(seconds), to: String(seconds) })
  })

  it('positions ends at the present second if --to is missing', async () => {
    const { server, positions } = await served('[]')
    const before = Math.floor(Date.now() / 1000)
    await positions('--from', '0')
    const to = Number(server.asked.at(-1)!.query.to)
    expect(to).toBeGreaterThanOrEqual(before)
    expect(to).toBeLessThanOrEqual(Date.now() / 1000)
  })
})

it.each([
  [['--route', '1'], "error: required option '--company <id>' not specified"],
  [['--company', '-7', '--route', '1'], '--company -7: expected an id: a whole number from 0 to 9223372036854775807.'],
  [
    ['--company', '7', '--route', '1', '--from', '3000-01-01'],
    '--from 3000-01-01: this is in the future; give --to as well.',
  ],
  [['--company', '7', '--route', '1', '--csv', '--geojson'], 'positions: give --csv or --geojson, not both.'],
  [
    ['--company', '7', '--route', '1', '--to', 'noon'],
    '--to noon: expected unix seconds, 2026-11-20T06:00:00Z, or local time such as "2026-11-20 06:00".',
  ],
])('positions reports a mistake with exit code 1: %j', async (args, sentence) => {
  const { options } = await gatewayIn('UTC', () => ({ text: '[]' }))
  const ended = await waybridge(['positions', '--from', '0', ...options, ...args])
  expect(ended).toEqual({ code: 1, out: '', errors: `${sentence}\n` })
})

it.each([
  [400, { message: 'to: must not be before from' }, 'The admin port answers 400: to: must not be before from'],
  [404, { message: 'no company 7' }, 'The admin port answers 404: no company 7'],
  [403, { message: 'no access' }, 'The admin port answers 403: no access'],
  [
    401,
    { message: 'no such token' },
    'The admin port answers 401: no such token (check the oauth_token of company 7: it may have expired)',
  ],
])('positions reports an answer %i of the tracking interface with exit code 1', async (status, json, sentence) => {
  const server = await gatewayIn('UTC', () => ({ status, json }))
  const ended = await waybridge([...WHICH, ...server.options, '--from', '0'])
  expect(ended).toEqual({ code: 1, out: '', errors: `${sentence}\n` })
})

it('positions ends normally if its output pipe is closed early', async () => {
  const many = Array.from({ length: 100_000 }, (_, n) => ({ lat: 52.5, lon: 13.4, timestamp: n }))
  const server = await gatewayIn('UTC', () => ({ json: many }))
  const { code, errors } = await waybridgeProcess([...WHICH, ...server.options, '--from', '0', '--csv'], {
    reads: false,
  })
  expect([code, errors]).toEqual([0, ''])
})
