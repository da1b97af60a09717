import { describe, expect, it } from 'vitest'
import { parse } from '../../src/http/refusal.ts'
import { NewItems } from '../../src/tracking/schemas.ts'
import { item, startCompany } from '../support/tracking/company.ts'
import { JSON_TYPE, LANE, position, path as pushPath } from '../support/tracking/push.ts'
import { MAX_ID } from '../support/tracking/service.ts'

const { service, ask, contents } = await startCompany()
const ITEMS = '/api/v1/companies/7/orders/5/items'
const RETURN = '/companies/7/orders/5:return'
const POSITIONS = '/api/v2/companies/7/routes/1001/courier-positions'
await ask('POST', ITEMS, [item('A')])

const SECONDS = 'expected unix seconds as one integer in decimal digits'
const PAGE = 'expected one integer from 1 to 100'
const TOKEN = 'expected one next_page_token of a page of this order'
const INT64 = (min: number) => `expected an integer from ${min} to ${MAX_ID} in plain digits`
const SAFE = 'expected an integer from -9007199254740991 to 9007199254740991'
const LAT = 'expected a number from -90 to 90'
const NUMBER = 'expected text of 1 to 80 characters'

function push(body: string) {
  return service.send(pushPath(LANE), { method: 'POST', headers: JSON_TYPE, body })
}

/** Returns an item of company 7 as JSON, with this text as a field. */
function written(field: string, json: string): string {
  return JSON.stringify([item('B')]).replace(new RegExp(`"${field}":[^,}]*`), `"${field}":${json}`)
}

function positions(changes: object): string {
  return JSON.stringify({ positions: [position(changes)] })
}

function positionWith(field: string, json: string): string {
  return positions({ heading: 1, speed: 1 }).replace(new RegExp(`"${field}":[^,}]*`), `"${field}":${json}`)
}

it.each([
  ['', 'from', SECONDS],
  ['to=5', 'from', SECONDS],
  ['from=1&from=2', 'from', SECONDS],
  ['from=', 'from', SECONDS],
  ['from=1e3', 'from', SECONDS],
  ['from=5&to=6&to=7', 'to', SECONDS],
  ['from=5&to=', 'to', SECONDS],
  ['from=5&to=4', 'to', 'must not be before from'],
  ['from=5&to=7206', 'to', 'must be at most 2 hours after from'],
])('a refused query courier-positions?%s is explained: %s', async (query, path, message) => {
  expect(await ask('GET', `${POSITIONS}?${query}`)).toMatchObject({
    status: 400,
    json: { message: `${path}: ${message}`, errors: [{ path, message }] },
  })
})

it.each([
  ['max_results=0', 'max_results', PAGE],
  ['max_results=1&max_results=2', 'max_results', PAGE],
  ['page_token=', 'page_token', TOKEN],
  ['page_token=a&page_token=b', 'page_token', TOKEN],
])('a refused query items?%s is explained: %s', async (query, path, message) => {
  const json = { message: `${path}: ${message}`, errors: [{ path, message }] }
  expect(await ask('GET', `${ITEMS}?${query}`)).toMatchObject({ status: 422, json })
})

it.each(['', '?apikey=', '?apikey=a&apikey=b'])('a refused query push-positions-v3%s is explained', async (query) => {
  const answer = await service.send(`${pushPath({ ...LANE, apikey: null })}${query}`, { method: 'POST' })
  const message = 'apikey: this query parameter is needed, once'
  expect(answer).toMatchObject({ status: 422, json: { message } })
})

describe('integers that a number cannot hold', () => {
  const BEYOND = [
    '9.007199254740993e15',
    '9007199254740993.0',
    '4.611686018427387904e18',
    '1e16',
    '9223372036854775808',
    '1e400',
  ]
  const INEXACT = BEYOND.flatMap((json) => [
    ['timestamp', json] as const,
    ['total_count', json] as const,
    ['undelivered_count', json] as const,
    ['item_id', json] as const,
  ])

  it.each(INEXACT)('the service refuses %s %s, which a number cannot hold', async (field, json) => {
    const before = contents()
    const back = JSON.stringify([{ item_id: 1, undelivered_count: 1 }])
    const [answer, path] =
      field === 'timestamp'
        ? [await push(positionWith(field, json)), 'positions.0.timestamp']
        : field === 'total_count'
          ? [await ask('POST', ITEMS, written(field, json)), '0.total_count']
          : [await ask('POST', RETURN, back.replace(`"${field}":1`, `"${field}":${json}`)), `0.${field}`]
    const message = INT64(field === 'total_count' ? 1 : 0)
    expect(answer).toMatchObject({ status: 422, json: { message: `${path}: ${message}`, errors: [{ path, message }] } })
    expect(contents()).toBe(before)
  })

  it.each(['3.0', '3e0', '30e-1'])('the service accepts %s, which is exact', async (json) => {
    const number = `exact ${json}`
    const body = written('total_count', json).replace('"number":"B"', `"number":"${number}"`)
    expect(await ask('POST', ITEMS, body)).toMatchObject({ status: 200, json: [{ number, total_count: 3 }] })
  })
})

describe('refused bodies', () => {
  it.each([
    ['accuracy', '1e400', 'accuracy', SAFE],
    ['accuracy', '9007199254740993', 'accuracy', SAFE],
    ['accuracy', '1.5', 'accuracy', SAFE],
    ['heading', '"N"', 'heading', SAFE],
    ['speed', '-1e400', 'speed', 'expected a number within 1.7e308'],
    ['lat', '1e400', 'point.lat', LAT],
    ['lat', '"1"', 'point.lat', LAT],
    ['lat', '90.1', 'point.lat', LAT],
    ['lon', 'null', 'point.lon', 'expected a number from -180 to 180'],
  ])('a refused position with %s %s is explained', async (field, json, where, message) => {
    const path = `positions.0.${where}`
    expect(await push(positionWith(field, json))).toMatchObject({
      status: 422,
      json: { message: `${path}: ${message}`, errors: [{ path, message }] },
    })
  })

  it.each([
    ['no accuracy', positions({ accuracy: undefined }), `positions.0.accuracy: ${SAFE}`],
    ['no point', positions({ point: undefined }), 'positions.0.point: expected an object with lat and lon'],
    ['no lat', positions({ point: { lon: 1 } }), `positions.0.point.lat: ${LAT}`],
    [
      'a number for a position',
      '{"positions":[1]}',
      'positions.0: expected an object with accuracy, point and timestamp',
    ],
    ['no positions', '{}', 'positions: expected an array of 0 or more objects'],
    ['an array', '[]', 'the body: expected an object with positions'],
    [
      'a byte order mark',
      `\ufeff${positions({})}`,
      'the body is not JSON: it begins with a byte order mark, leave that out',
    ],
    [
      'what is nested deeply, and has a long integer',
      `{"a":1234567890123456789,"b":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'positions: expected an array of 0 or more objects',
    ],
  ])('a refused push with %s is explained', async (_, body, message) => {
    expect(await push(body)).toMatchObject({ status: 422, json: { message } })
  })

  it.each([
    [[item('A', { number: undefined })], `0.number: ${NUMBER}`],
    [[item('A', { number: 5 })], `0.number: ${NUMBER}`],
    [[item('A', { number: '' })], `0.number: ${NUMBER}`],
    [[item('A', { description: null })], '0.description: expected text of 0 to 1023 characters'],
    [[item('A', { price: 5 })], '0.price: expected a decimal of at most 4 places, as text'],
    [[item('A', { code: 5 })], '0.code: expected text'],
    [[5], '0: expected an object with number, description, price and total_count'],
    [{}, 'the body: expected an array of 1 or more objects'],
    [[], 'the body: expected an array of 1 or more objects'],
  ])('refused items %j are explained', async (body, message) => {
    expect(await ask('POST', ITEMS, body)).toMatchObject({ status: 422, json: { message } })
  })

  it.each([
    [[{ undelivered_count: 1 }], `0.item_id: ${INT64(0)}`],
    [[{ item_id: 1 }], `0.undelivered_count: ${INT64(0)}`],
    [['A'], '0: expected an object with item_id and undelivered_count'],
  ])('a refused return %j is explained', async (body, message) => {
    expect(await ask('POST', RETURN, body)).toMatchObject({ status: 422, json: { message } })
  })
})

describe('more than 1,000 items', () => {
  const message = 'the body: expected at most 1000 objects: send them in parts'

  it.each([
    ['items', ITEMS, (n: number): object => item(`${n}`)],
    ['returns', RETURN, (n: number): object => ({ item_id: n, undelivered_count: 0 })],
  ])('the service refuses more than 1,000 items: %s', async (_, path, one) => {
    const before = contents()
    const body = Array.from({ length: 1_001 }, (_one, n) => one(n))
    expect(await ask('POST', path, body)).toMatchObject({ status: 422, json: { message, errors: [{ path: '' }] } })
    expect(contents()).toBe(before)
  })

  it('the interface accepts more than 1,000 items', () => {
    const many = Array.from({ length: 1_500 }, (_, n) => item(`${n}`))
    expect(parse(NewItems, many)).toEqual(many)
    expect(() => parse(NewItems, [...many, item('0')])).toThrow('1500.number: it occurs twice in this body')
  })

  it('two million wrong items are refused by their number', () => {
    expect(() => parse(NewItems, Array<number>(2_000_000).fill(5))).toThrow('the body: expected at most 105000 objects')
  })
})
