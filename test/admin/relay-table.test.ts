import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATE, relayFixture } from '../support/relay.ts'
import {
  type Cell,
  COMPANIES_OF_ITS_OWN,
  cells,
  type Harness,
  NO_CALL,
  NO_PUSH,
  runCell,
  type Send,
  TOKEN_REPLACED,
  WINDOWS,
} from '../support/tracking/cells.ts'
import { type HttpAnswer, startService } from '../support/tracking/service.ts'

const service = await startService()
const impatient = await startService({ databaseFile: service.databaseFile, timeLimitMs: -1 })
const relay = relayFixture([
  { company_id: '7', apikey: 'canary-apikey', oauth_token: 'token-7' },
  { company_id: '8', apikey: 'canary-apikey' },
])

const direct = (to: typeof service): Send => {
  return ({ method, path, headers, body, authorization = 'OAuth token-7' }) =>
    to.send(path, { method, headers: { ...headers, authorization }, body })
}

const relayed: Send = ({ method, path, headers, body, authorization }) => {
  const own = authorization === undefined ? OPERATE : authorization === '' ? {} : { authorization }
  return relay.ask(path, { method, headers: { ...headers, ...own }, body })
}

/** Sends requests through the relay. With `equal` the service itself must answer the same error. */
function through(to: typeof service, equal: boolean): Send {
  return async (request) => {
    relay.relayTo(to.url)
    const answer = await relayed(request)
    if (equal && answer.status >= 400) expect(textOf(answer)).toEqual(textOf(await direct(to)(request)))
    return answer
  }
}

function textOf({ status, headers, text }: HttpAnswer) {
  return { status, text, type: headers['content-type'] }
}

function harness(equal: boolean): Harness {
  return { send: through(service, equal), impatient: through(impatient, equal), service: direct(service) }
}

const FROM = 1_700_000_000

/** Answers of the relay to cells with an intended difference. */
const INSTEAD: Readonly<Record<string, (cell: Cell) => { status: number; json: unknown }>> = {
  [TOKEN_REPLACED]: () => ({ status: 401, json: message(/^the token is (missing|unknown): send the header/) }),
  [COMPANIES_OF_ITS_OWN]: ({ title }) =>
    title === 'an unknown company'
      ? { status: 404, json: { message: 'there is no company 99 in gateway.yaml' } }
      : { status: 403, json: message(/^company 8 has no oauth_token in gateway.yaml: add it/) },
  [NO_PUSH]: () => ({ status: 404, json: message(/^unknown path/) }),
  [WINDOWS]: () => ({ status: 200, json: [position(FROM), position(FROM + 7_201)] }),
  [NO_CALL]: ({ operation }) => ({
    status: 422,
    json: message(
      operation === 'listItems' ? /^max_results: expected one integer from 1 to 100$/ : /^the body is not JSON: /,
    ),
  }),
}

function position(timestamp: number): unknown {
  return { lat: 55.75, lon: 37.5, timestamp, server_timestamp: expect.any(Number) as unknown }
}

function message(text: RegExp): unknown {
  return expect.objectContaining({ message: expect.stringMatching(text) as unknown })
}

it.each(
  cells.filter(({ differs }) => !differs).map((cell) => [cell.operation, cell.status, cell.title, cell] as const),
)('the relay passes on the table row of %s, %i: %s', async (_operation, status, _title, cell) => {
  const { answer, items } = await runCell(cell, harness(true))
  expect(answer.json, answer.text).toEqual(cell.json(items))
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
})

describe('intended differences of the relay', () => {
  beforeAll(async () => {
    const positions = [FROM, FROM + 7_201].map((timestamp) => {
      return { accuracy: 5, point: { lat: 55.75, lon: 37.5 }, timestamp }
    })
    await service.send('/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=key-7', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ positions }),
    })
  })

  it.each(
    cells.filter(({ differs }) => differs).map((cell) => [cell.operation, cell.status, cell.title, cell] as const),
  )(
    'the relay answers on purpose differently from the table row of %s, %i: %s',
    async (_operation, _status, _title, cell) => {
      const { answer } = await runCell(cell, harness(false))
      const { status, json } = INSTEAD[cell.differs ?? ''](cell)
      expect(answer.json, answer.text).toEqual(json)
      expect(answer.status).toBe(status)
    },
  )
})

it('the relay leaves limits that only the service has to the service', async () => {
  relay.relayTo(service.url)
  const items = Array.from({ length: 1_001 }, (_, n) => ({
    number: `${n}`,
    description: '',
    price: '1',
    total_count: 1,
  }))
  const answer = await relay.ask('/api/v1/companies/7/orders/9/items', {
    method: 'POST',
    headers: { ...OPERATE, 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
  expect([answer.status, answer.json]).toEqual([
    422,
    message(/^the body: expected at most 1000 objects: send them in parts$/),
  ])
})

it('the relay logs no secret of any cell', () => {
  expect(relay.log.length).toBeGreaterThan(cells.length)
  expect(relay.log.join('')).not.toMatch(/token-7|canary/)
})
