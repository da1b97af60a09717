import { expect, it } from 'vitest'
import { apiOfCompany, usualApi } from '../../src/config/apis.ts'
import { readGateway } from '../../src/config/gateway.ts'
import { english } from '../../src/texts/text.ts'

const BASE = 'tracking: { base_url: https://api.example, proxy: "http://proxy.example:3128" }\n'

const company = (id: number, own: string) => `  - { company_id: ${id}, apikey: k, tracking: ${own} }\n`

function read(tracking: string, { more = '', push = '' } = {}) {
  return readGateway(`${BASE}${push}companies:\n${company(7, tracking)}${more && company(8, more)}`, null)
}

function apiOf(tracking: string) {
  const { config, mistakes } = read(tracking)
  if (!config) throw new Error(mistakes.map(({ message }) => english(message)).join('\n'))
  return apiOfCompany(config, config.companies[0], usualApi(config, 'https://api.example').base_url)
}

it('a company without an API of its own uses the common one', () => {
  expect(apiOf('null')).toBeUndefined()
})

it('the API of a company takes missing settings from `tracking` and `push`', () => {
  expect(apiOf('{ base_url: https://EU.example/v2/, concurrency: 8 }')).toEqual({
    id: 'https://eu.example/v2',
    base_url: 'https://EU.example/v2',
    push_url: 'https://EU.example/v2',
    tls: { ca: null, cert: null, key: null },
    proxy: 'http://proxy.example:3128',
    concurrency: 8,
    max_requests_per_s: null,
  })
})

it('a company with another push_url has another API, even if it is read at the same place', () => {
  expect(apiOf('{ push_url: "https://push.example" }')).toMatchObject({
    id: 'https://push.example',
    base_url: 'https://api.example',
  })
})

it('a company with the same URL has the common API, with its own connection settings', () => {
  expect(apiOf('{ tls: { cert: a.pem, key: b.pem } }')).toMatchObject({ id: '', base_url: 'https://api.example' })
  expect(apiOf('{ base_url: "https://api.example:443/" }')).toMatchObject({ id: '' })
})

it.each([
  [
    'another rate than another company of the same API',
    '{ base_url: http://a, max_requests_per_s: 5 }',
    '{ base_url: http://a/ }',
  ],
  ['other slots than the usual API has', '{ concurrency: 8 }', ''],
  ['a proxy that is no URL of one', '{ proxy: "socks://proxy" }', ''],
  ['a proxy with a path', '{ proxy: "http://proxy/path" }', ''],
  ['a key that does not exist', '{ baseurl: http://a }', ''],
])('the configuration refuses %s', (_, tracking, more) => {
  const { config, mistakes } = read(tracking, { more })
  expect(config).toBeUndefined()
  expect(mistakes).toHaveLength(1)
})

it('two APIs can have different bounds', () => {
  const more = '{ base_url: http://b, concurrency: 2 }'
  expect(read('{ base_url: http://a, concurrency: 8 }', { more }).mistakes).toEqual([])
})
