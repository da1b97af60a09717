import { describe, expect, it } from 'vitest'
import { DecodeError, decodeFrame, mappingProtocol, noSettings, type Session } from '../../protocols/kit/index.ts'
import { type MappingDescription, mappingText, readMapping, readMappings } from '../../src/config/mappings.ts'
import { COMPANY, checked, folder, loadedFolder } from '../support/config-folder.ts'
import { AT, type MappedProduct, PRODUCTS } from '../support/mapping-products.ts'

const session = (transport: 'http' | 'mqtt'): Session => ({
  transport,
  now: AT * 1000,
  lenient: false,
  settingsOf: noSettings,
})

/** Reads a mapping from one line of mappings.yaml. */
function mappingIn(text: string): MappingDescription {
  const { mappings, mistakes } = readMappings({ text: `one: ${text}\n` })
  expect(mistakes).toEqual([])
  return mappings?.get('one') as MappingDescription
}

function decoded({ mapping, message, topic, uri = '/' }: Pick<MappedProduct, 'mapping' | 'message' | 'topic' | 'uri'>) {
  const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const frame = topic === undefined ? { method: 'POST', uri, headers: {}, body } : body
  return decodeFrame(mappingProtocol('one', mappingIn(mapping)), frame, session(topic === undefined ? 'http' : 'mqtt'))
}

/** Returns the paths of all values in JSON. */
function pathsIn(json: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof json !== 'object' || json === null) return [path]
  return [path, ...Object.entries(json).flatMap(([key, value]) => pathsIn(value, [...path, key]))]
}

function replacedAt(json: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const copy = (Array.isArray(json) ? [...(json as unknown[])] : { ...(json as object) }) as Record<string, unknown>
  copy[key] = replacedAt(copy[key], rest, value)
  return copy
}

/** Removes undefined values. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

describe('a mapping', () => {
  it.each(PRODUCTS)('a mapping reads $product', ({ device, fixes, ...product }) => {
    const message = decoded(product)
    expect(message.device).toBe(device)
    expect(plain(message.fixes)).toEqual(fixes)
    expect(message.unreadable).toBeUndefined()
  })

  it.each(PRODUCTS)(
    'a mapping refuses odd values in $product, or reads finite numbers',
    ({ mapping, message, topic, uri }) => {
      for (const odd of [null, {}, [], [[]], 'x', '', '1e999', -1, 1e300, true, 'NaN', '٣'])
        for (const path of pathsIn(message)) {
          let fixes
          try {
            ;({ fixes } = decoded({ mapping, message: replacedAt(message, path, odd), topic, uri }))
          } catch (error) {
            expect(error).toBeInstanceOf(DecodeError)
            continue
          }
          for (const fix of fixes ?? [])
            for (const value of Object.values(fix))
              if (typeof value === 'number') expect([path, odd, Number.isFinite(value)]).toEqual([path, odd, true])
        }
    },
  )

  it('a mapping is written in the form that it is read from', () => {
    for (const { mapping } of PRODUCTS) {
      const read = mappingIn(mapping)
      expect(readMapping('one', mappingText(read))).toEqual({ mapping: read })
    }
  })

  it('a mapping refuses a request without a device, and takes the id and token of its address', () => {
    const mapping = '{ lat: lat, lon: lon }'
    const message = { lat: 1, lon: 2 }
    expect(() => decoded({ mapping, message })).toThrow('the address has no id')
    expect(decoded({ mapping, message, uri: '/?id=7&token=t' })).toMatchObject({ device: '7', secret: 't' })
    expect(() => decoded({ mapping: '{ device: $.imei, lat: lat, lon: lon }', message })).toThrow('$.imei is missing')
  })

  it('a mapping reads each entry that it can, and counts the others', () => {
    const mapping = '{ device: $.imei, each: $.points[*], time: ts, lat: lat, lon: lon }'
    const points = [
      { ts: AT, lat: 1, lon: 2 },
      { lat: 3, lon: 4 },
      { ts: AT, x: 1 },
      { ts: AT, latitude: 5, longitude: 6 },
    ]
    const message = decoded({ mapping, message: { imei: 'v', points } })
    expect(message).toMatchObject({ device: 'v', unreadable: [1, 3] })
    expect(message.fixes).toHaveLength(1)
  })

  it('a mapping reads no fix without a place, and reports a possible fix if a place is elsewhere', () => {
    const mapping = '{ device: $.imei, lat: lat, lon: lon }'
    expect(decoded({ mapping, message: { imei: 'v', battery: 3 } })).toMatchObject({ none: 'no place', device: 'v' })
    const elsewhere = decoded({ mapping, message: { imei: 'v', gps: { latitude: 5, longitude: 6 } } })
    expect(elsewhere).toMatchObject({ device: 'v', fixes: [] })
    expect(elsewhere.none).toBeUndefined()
  })

  it.each([
    ['s', AT, AT * 1000],
    ['s', `${AT}.5`, AT * 1000 + 500],
    ['ms', AT * 1000 + 1, AT * 1000 + 1],
    ['iso', '2026-11-20T08:00:00+02:00', AT * 1000],
  ])('a mapping reads a time as %s', (format, ts, time) => {
    const mapping = `{ device: id, lat: lat, lon: lon, time: ts, time_format: ${format} }`
    expect(decoded({ mapping, message: { id: 'v', lat: 1, lon: 2, ts } }).fixes?.[0].time).toBe(time)
  })

  it.each([
    ['iso', 1_795_154_400],
    ['s', 'yesterday'],
    ['ms', true],
    ['s', undefined],
  ])('a mapping with the time format %s refuses the time %s', (format, ts) => {
    const mapping = `{ device: id, lat: lat, lon: lon, time: ts, time_format: ${format} }`
    expect(() => decoded({ mapping, message: { id: 'v', lat: 1, lon: 2, ts } })).toThrow('malformed')
  })

  it.each([
    [true, true],
    [1, true],
    ['A', true],
    [false, false],
    [0, false],
    ['V', false],
  ])('a mapping takes the validity %s as %s', (value, valid) => {
    const mapping = '{ device: id, lat: lat, lon: lon, valid: ok }'
    expect(decoded({ mapping, message: { id: 'v', lat: 1, lon: 2, ok: value } }).fixes?.[0].valid).toBe(valid)
  })

  it('a mapping keeps every digit of a long id that is a number', () => {
    const mapping = '{ device: $.gps.id, lat: lat, lon: lon }'
    const message = '{"gps": {"id": 9223372036854775807}, "lat": 1, "lon": 2}'
    expect(decoded({ mapping, message }).device).toBe('9223372036854775807')
  })

  it('a mapping reads alarms by their names, and no others', () => {
    const mapping = '{ device: id, lat: lat, lon: lon, said: { alarms: alarms } }'
    const read = (alarms: unknown) => decoded({ mapping, message: { id: 'v', lat: 1, lon: 2, alarms } }).fixes?.[0].said
    expect(read(['sos', 'hungry'])).toEqual({ alarms: ['sos'] })
    expect(read('low_battery')).toEqual({ alarms: ['low_battery'] })
    expect(read('hungry')).toBeUndefined()
  })

  it.each(['not json', '[1]', '"text"', '{"points": 7}', '{'])('a mapping refuses %s', (message) => {
    expect(() => decoded({ mapping: '{ device: id, lat: lat, lon: lon }', message })).toThrow()
    expect(() => decoded({ mapping: '{ each: $.points[*], lat: lat, lon: lon }', message })).toThrow()
  })
})

const listener = (protocol: string, transport = 'http') =>
  `${COMPANY}listeners: [{ transport: ${transport}, port: 5400, protocol: "${protocol}" }]\n`

describe('mappings.yaml', () => {
  it('mappings.yaml accepts brackets inside braces, with or without quotes', () => {
    const text = 'a: { each: $.points[*], lat: at[0].lat, lon: "at[0].lon" }\nb:\n  each: $[*]\n  lat: x\n  lon: y\n'
    const { mappings, mistakes } = readMappings({ text })
    expect(mistakes).toEqual([])
    expect(Array.from(mappings ?? [], ([name, mapping]) => [name, mappingText(mapping)])).toEqual([
      ['a', { each: '$.points[*]', lat: 'at[0].lat', lon: 'at[0].lon' }],
      ['b', { each: '$[*]', lat: 'x', lon: 'y' }],
    ])
  })

  it.each([
    ['one: { lat: $.lat, lon: $.lon, lattitude: x }', /^mappings\.yaml:1:\d+ one\.lattitude: unknown key/],
    ['one: { lat: $.lat }', /^mappings\.yaml:1:\d+ one\.lon: missing/],
    ['one: { lat: $..lat, lon: $.lon }', /^mappings\.yaml:1:13 one\.lat: expected a path to one value/],
    ['one: { lat: $.all[*], lon: $.lon }', /^mappings\.yaml:1:13 one\.lat: expected a path to one value/],
    [
      '\none:\n  lat: $.lat\n  lon: $.lon\n  time_format: us',
      /^mappings\.yaml:5:16 one\.time_format: expected one of s, ms, iso/,
    ],
    [
      'one: { lat: a, lon: b, speed: { path: c, unit: kph } }',
      /^mappings\.yaml:1:\d+ one\.speed\.unit: expected one of ms/,
    ],
    ['one: { lat: a, lon: b, said: { mood: c } }', /^mappings\.yaml:1:\d+ one\.said\.mood: unknown key/],
    ['"one thing": { lat: a, lon: b }', /^mappings\.yaml:1:1 one thing: expected a name of at most 40/],
    ['one: { lat: a, lon: b }\none: { lat: a, lon: b }', /^mappings\.yaml:2:1 one: this key occurs twice/],
    ['- one', /^mappings\.yaml:1:1 expected a mapping of names/],
    ['one: { lat: a', /^mappings\.yaml:\d+:\d+ not valid YAML/],
  ])('mappings.yaml reports one mistake with its place for %s', async (text, mistake) => {
    const { mistakes } = await checked({ 'gateway.yaml': COMPANY, 'mappings.yaml': `${text}\n` })
    expect(mistakes).toEqual([expect.stringMatching(mistake)])
  })

  it('mappings.yaml defines mappings that listeners, bridges and devices can name', async () => {
    const files = {
      'gateway.yaml': `${listener('map:one')}mqtt: { bridges: [{ url: mqtt://broker, topics: { a/+/b: map:one } }] }\n`,
      'mappings.yaml': 'one: { lat: a, lon: b }\n',
      'devices.yaml': '"1": { company_id: 7, protocol: map:one }\n',
    }
    expect((await checked(files)).mistakes).toEqual([])
    const { config } = await loadedFolder(await folder(files))
    expect(config.listeners).toHaveLength(1)
  })

  it('mappings.yaml adds no default listener', async () => {
    const [without, withOne] = await Promise.all(
      ['', 'one: { lat: a, lon: b }\n'].map(async (text) =>
        loadedFolder(await folder({ 'gateway.yaml': COMPANY, 'mappings.yaml': text })),
      ),
    )
    expect(withOne.config.listeners).toEqual(without.config.listeners)
  })

  it('an unknown mapping is reported with the known ones, and one on another transport as only for HTTP', async () => {
    const mapping = { 'mappings.yaml': 'van: { lat: a, lon: b }\n' }
    const mistakes = async (gateway: string) => (await checked({ 'gateway.yaml': gateway, ...mapping })).mistakes
    expect(await mistakes(listener('map:vam'))).toEqual([
      expect.stringContaining('listeners[0].protocol: unknown mapping: did you mean map:van?'),
    ])
    const SAVED = "(only those of mappings.yaml have a name here: the page's are used without)"
    expect(await mistakes(listener('map:saved'))).toEqual([
      expect.stringContaining(`listeners[0].protocol: unknown mapping: expected one of map:van ${SAVED}`),
    ])
    const entry = { 'devices.yaml': '"1": { company_id: 7, protocol: map:saved }\n' }
    expect((await checked({ 'gateway.yaml': COMPANY, ...entry })).mistakes).toEqual([
      expect.stringContaining(`1.protocol: unknown mapping ${SAVED}`),
    ])
    expect(await mistakes(listener('map:van', 'tcp'))).toEqual([
      expect.stringContaining('listeners[0].transport: expected http for map:van'),
    ])
  })

  it('a mistake in mappings.yaml does not cause another one at the listener that names the mapping', async () => {
    for (const text of ['one: { lat: a }\n', 'one: { lat: a\n']) {
      const { mistakes } = await checked({ 'gateway.yaml': listener('map:one'), 'mappings.yaml': text })
      expect(mistakes).toEqual([expect.stringMatching(/^mappings\.yaml/)])
    }
  })
})
