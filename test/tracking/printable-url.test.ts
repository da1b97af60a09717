import { expect, it } from 'vitest'
import { printableUrl } from '../../src/masking.ts'

it.each([
  ['https://host/api?apikey=CANARY', 'https://host/api?apikey=***'],
  ['https://host/api?a=1&apikey=CANARY&b=2#c', 'https://host/api?a=1&apikey=***&b=2#c'],
  ['https://host/api?APIKEY=CANARY', 'https://host/api?APIKEY=***'],
  ['https://host/api?api_key=CANARY;CANARY', 'https://host/api?api_key=***'],
  ['https://host/api?apikey=CANARY=CANARY', 'https://host/api?apikey=***'],
  ['https://host/api?apikey=CANARY&apikey=CANARY', 'https://host/api?apikey=***&apikey=***'],
  ['https://host/?x=1?apikey=CANARY', 'https://host/?x=1?apikey=***'],
  ['https://user:CANARY@host:8443/path', 'https://***@host:8443/path'],
  ['https://CANARY@host/path', 'https://***@host/path'],
  ['https://user:CA@NARY@host/path', 'https://***@host/path'],
  ['https:user:CANARY@host/path', 'https:***@host/path'],
  ['redis://:CANARY@127.0.0.1:6379/0', 'redis://***@127.0.0.1:6379/0'],
  ['http://127.0.0.1:8080/#token=CANARY', 'http://127.0.0.1:8080/#token=***'],
  [
    '/api/v1/couriers/1/routes/2/push-positions-v3?apikey=CANARY',
    '/api/v1/couriers/1/routes/2/push-positions-v3?apikey=***',
  ],
  ['//user:CANARY@host/?apikey=CANARY', '//***@host/?apikey=***'],
  ['http://user:CANARY@host name/?token=CANARY', 'http://***@host name/?token=***'],
  ['GET /x?apikey=CANARY failed', 'GET /x?apikey=*** failed'],
  ['/x?%zz=1&secret=CANARY', '/x?%zz=1&secret=***'],
  ['https://host/api?from=1&to=2', 'https://host/api?from=1&to=2'],
  ['', ''],
])('printableUrl prints %s as %s', (url, printed) => {
  expect(printableUrl(url)).toBe(printed)
})

it('printableUrl prints a URL with thousands of nested parameters', () => {
  const many = '/x' + '?a='.repeat(20_000)
  expect(printableUrl(`${many}?apikey=CANARY`)).toBe(`${many}?apikey=***`)
})

it('printableUrl prints a URL object', () => {
  expect(printableUrl(new URL('https://u:p@host/?apikey=CANARY'))).toBe('https://***@host/?apikey=***')
})
