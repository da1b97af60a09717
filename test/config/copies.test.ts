import { describe, expect, it } from 'vitest'
import { configSchema } from '../../src/config/schema.ts'

const read = (...copies: object[]) => configSchema(null).safeParse({ copies })
const JSON_COPY = { name: 'crm', to: 'https://crm.example/in?key=1' }

describe('copies', () => {
  it('copies have defaults', () => {
    expect(read(JSON_COPY).data?.copies).toEqual([
      {
        ...JSON_COPY,
        format: 'json',
        companies: null,
        without_route: false,
        max_waiting: 1_000_000,
        headers: {},
        tls: null,
      },
    ])
  })

  it.each<[what: string, copy: object]>([
    ['a broker with a password', { to: 'mqtts://user:p%40ss@broker.example:8884', topic: 'a/{company_id}/{device}' }],
    ['a second tracking API', { to: 'https://api.example', format: 'positions_v3', secret: 'key', companies: [7] }],
    ['a server that speaks OsmAnd', { to: 'http://home.example:5055', format: 'osmand', without_route: true }],
    ['headers', { headers: { Authorization: 'Bearer x', 'x-id': 7 } }],
  ])('copies accept %s', (_, copy) => {
    expect(read({ ...JSON_COPY, ...copy }).error?.issues).toBeUndefined()
  })

  it.each<[what: string, copy: object, path: string, says: string]>([
    ['a name with spaces', { name: 'my crm' }, 'name', 'expected a name'],
    ['a URL of another kind', { to: 'ftp://x' }, 'to', 'expected a URL'],
    ['a password in an https URL', { to: 'https://user:hunter2@x' }, 'to', 'expected a URL'],
    ['a broker that is to get another format', { to: 'mqtt://x', format: 'osmand' }, 'format', 'a broker gets json'],
    ['a topic without a broker', { topic: 'a' }, 'topic', 'only a broker has topics'],
    ['a topic with a wildcard', { to: 'mqtt://x', topic: 'a/+/b' }, 'topic', 'expected a topic'],
    ['a topic with an unknown part', { to: 'mqtt://x', topic: '{imei}' }, 'topic', 'expected a topic'],
    ['a header of ours', { headers: { Host: 'x' } }, 'headers.Host', 'not set by waybridge'],
    ['a header with a line break', { headers: { a: 'x\r\ny' } }, 'headers.a', 'printable'],
    [
      'positions without a route for a tracking API',
      { format: 'positions_v3', without_route: true },
      'without_route',
      'needs a route',
    ],
    ['TLS without TLS', { to: 'http://x', tls: {} }, 'tls', 'https'],
    ['a certificate without its key', { tls: { cert: 'a.pem' } }, 'tls.cert', 'needs key'],
  ])('copies refuse %s', (_, copy, path, says) => {
    const issues = read({ ...JSON_COPY, ...copy }).error?.issues ?? []
    expect(issues.map((issue) => issue.path.slice(2).join('.'))).toContain(path)
    const found = issues.find((issue) => issue.path.slice(2).join('.') === path)
    expect(found?.message).toContain(says)
    expect(issues.map(({ message }) => message).join()).not.toContain('hunter2')
  })

  it('copies refuse a repeated name', () => {
    expect(read(JSON_COPY, JSON_COPY).error?.issues.map(({ path }) => path.join('.'))).toEqual(['copies.1.name'])
  })
})
