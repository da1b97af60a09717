import { describe, expect, it } from 'vitest'
import { parametersOf } from '../../src/tracking/openapi.ts'
import { OPERATIONS, type OperationName } from '../../src/tracking/operations.ts'
import { startCompany } from '../support/tracking/company.ts'
import type { HttpRequest } from '../support/tracking/service.ts'

const { service, ask, contents } = await startCompany()
const EXAMPLES: Readonly<Record<string, string>> = {
  company_id: '7',
  contractor_company_id: '1',
  courier_id: '42',
  route_id: '1001',
  order_id: '5',
  item_id: '1',
}
const TRAPS = [
  '..',
  '.',
  '%2e%2e',
  '%2f',
  '..%2f..%2fhealthz',
  '%2500',
  '%00',
  '%20',
  '+5',
  '-0',
  '05',
  '0x5',
  '5;v=1',
  '%D9%A5',
  'a:b',
  '5%3areturn',
  '-5',
  'abc',
  '12345678901234567890',
  '9'.repeat(3_000),
]
const NAMES = Object.keys(OPERATIONS) as OperationName[]

function pathOf(name: OperationName, changes: Record<string, string> = {}): string {
  const path = OPERATIONS[name].path.replaceAll(
    /\{(\w+)\}/g,
    (_, each: string) => ({ ...EXAMPLES, ...changes })[each] ?? '',
  )
  return name === 'pushPositions' ? `${path}?apikey=key-7` : path
}

describe.each(NAMES)('%s', (name) => {
  const { method, path } = OPERATIONS[name]
  const names = parametersOf(path)

  it.each(names)('answers 422 to an invalid id in %s', async (parameter) => {
    const before = contents()
    for (const trap of TRAPS) {
      const answer = await ask(method, pathOf(name, { [parameter]: trap }), '[]')
      expect(answer, `${parameter} ${trap}`).toMatchObject({ status: 422, json: { errors: [{ path: parameter }] } })
    }
    expect(contents()).toBe(before)
  })

  it.each(['%', '%zz', '%ff', '%c3%28'])('answers 422 to %s, which is no percent-encoded text', async (trap) => {
    const answer = await ask(method, pathOf(name, { [names[0]]: trap }), '[]')
    expect(answer).toMatchObject({ status: 422, json: { message: 'the path cannot be decoded' } })
  })

  it.each(['PUT', 'PATCH', 'HEAD'] as const)('answers 404 to the method %s', async (other) => {
    const answer = await ask(other, pathOf(name), '[]')
    expect([answer.status, answer.text]).toEqual([
      404,
      other === 'HEAD' ? '' : '{"message":"there is no such operation"}',
    ])
  })
})

it.each<[HttpRequest['method'], string]>([
  ['GET', '/api/v1/companies/7/orders/5'],
  ['GET', '/api/v1/companies/7/orders/5:return'],
  ['POST', '/api/v1/companies/7/orders/5:returns'],
  ['POST', '/api/v1/companies/7/orders/5/items:return'],
  ['POST', '/api/v1/companies/7/orders/5/6:return'],
  ['POST', '/api/v2/companies/7/orders/5:return'],
  ['GET', '/API/v1/companies/7/numbers'],
  ['GET', '//api/v1/companies/7/numbers'],
  ['GET', '/'],
])('the tracking service answers %s %s with 404 and a sentence', async (method, path) => {
  const answer = await ask(method, path, '[]')
  expect([answer.status, answer.json]).toEqual([404, { message: 'there is no such operation' }])
})

it('the service logs no refused path', () => expect(service.log).toEqual([]))
