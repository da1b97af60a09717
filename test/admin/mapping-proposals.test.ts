import { expect, it } from 'vitest'
import { proposeMapping } from '../../src/admin/mappings/propose.ts'
import { readMapping } from '../../src/config/mappings.ts'
import { readPayload } from '../../src/gateway/mappings.ts'
import { AT, PRODUCTS } from '../support/mapping-products.ts'

/** Returns what a proposed mapping reads from a message. */
function reading(message: unknown, { topic, uri }: { topic?: string; uri?: string } = {}) {
  const proposal = proposeMapping([message], topic !== undefined)
  const known = proposal && readMapping('proposal', proposal.mapping)
  if (!known || !('mapping' in known)) return undefined
  const transport = topic === undefined ? ('http' as const) : ('mqtt' as const)
  const payload = { at: AT * 1000, transport, device: topic, uri, body: Buffer.from(JSON.stringify(message)) }
  return { proposal, ...readPayload(known.mapping, payload) }
}

const places = (fixes: readonly { latitude?: unknown; longitude?: unknown; time?: unknown }[] = []) =>
  fixes.map(({ latitude, longitude, time }) => ({ latitude, longitude, time }))

/** Products whose field names do not suggest a place: `y` and `V10`. */
const NAMELESS = /^(?:Wialon|Blynk)/
const TELLING = PRODUCTS.filter(({ product }) => !NAMELESS.test(product))

const doubts = (speed: object) => {
  const { mapping, doubts: found } = proposeMapping([{ imei: '1', lat: 52.5, lon: 13.4, ...speed }]) ?? {}
  return [(mapping?.speed as { unit?: string } | undefined)?.unit, found]
}

it.each(TELLING)('a proposed mapping finds place and time of $product', ({ message, topic, uri, fixes }) => {
  expect(places(reading(message, { topic, uri })?.fixes)).toEqual(places(fixes))
})

it('a proposed mapping finds the device in all JSON that names it', () => {
  const asked = TELLING.filter(({ topic, uri }) => topic === undefined && uri === undefined)
  const found = asked.filter(({ message, device, fixes }) => {
    const read = reading(message)
    const ids = (read?.fixes ?? []).map((fix) => fix.device ?? read?.device)
    return JSON.stringify(ids) === JSON.stringify(fixes.map((fix) => fix.device ?? device))
  })
  const missed = asked.filter((each) => !found.includes(each)).map(({ product }) => product)
  expect(missed).toEqual([])
})

it('a proposed mapping says that the unit of a speed is a guess, unless its name tells it', () => {
  expect(doubts({ speed: 30 })).toEqual(['ms', ['speed.unit']])
  expect(doubts({ speed: 90 })).toEqual(['kmh', ['speed.unit']])
  expect(doubts({ speed_kmh: 30 })).toEqual(['kmh', []])
  expect(doubts({ speedMilesPerHour: 30 })).toEqual(['mph', []])
})

it('a proposed mapping says that the order of two numbers is a guess', () => {
  expect(proposeMapping([{ id: 'a', location: [52.5, 13.4] }])).toMatchObject({
    mapping: { lat: '$.location[0]', lon: '$.location[1]' },
    doubts: ['lat'],
  })
  expect(proposeMapping([{ id: 'a', coordinates: [13.4, 52.5] }])).toMatchObject({
    mapping: { lat: '$.coordinates[1]', lon: '$.coordinates[0]' },
    doubts: ['lat'],
  })
})

it.each([
  [{ temperature: 21, humidity: 40 }],
  [{ lat: 0, lon: 0, imei: '1' }],
  [{ lat: 'north', lon: 'east' }],
  [{ latency: 20, longest: 30 }],
  [{ lat: 952.5, lon: 13.4 }],
  [{}],
  [[]],
  [null],
])('no mapping is proposed for %j', (message) => {
  expect(proposeMapping([message])).toBeUndefined()
})

it('a mapping is proposed for deep, wide and hostile JSON in bounded time', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`) as unknown
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`lat${index}`, 1]))
  const began = performance.now()
  for (const each of [deep, wide, { ['__proto__']: { lat: 1, lon: 2 } }]) proposeMapping(Array(20).fill(each))
  expect(performance.now() - began).toBeLessThan(5000)
})
