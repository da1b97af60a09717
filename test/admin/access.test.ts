import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminTokens } from '../../src/admin/index.ts'
import { EVERYTHING, Scope } from '../../src/admin/scope.ts'
import { diagnose, findingOf } from '../../src/diagnose/diagnose.ts'
import { verdict } from '../../src/diagnose/order.ts'
import { UserError } from '../../src/errors.ts'
import { adminFixture, READ_TOKEN, refuse, store, TOKEN } from '../support/admin.ts'
import { inEnglish } from '../support/texts.ts'

const admin = adminFixture()
const HOW = 'send the header "Authorization: Bearer <token>"; the log of the start says where the tokens are'

async function dataDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-token-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

const MADE = {
  token: expect.stringMatching(/^[\w-]{43}$/) as string,
  role: 'operate',
  label: 'admin-token',
  scope: EVERYTHING,
}

const tokensIn = (data_dir: string) => adminTokens({ admin: { tokens: [] }, data_dir })

it.each(['/admin/status', '/admin/lanes', '/admin/devices/1', '/admin/parked'])(
  'answers 401 with a hint to a request for %s without a token',
  async (path) => {
    const { status, headers, json } = await admin.ask(path, { headers: {} })
    expect([status, headers.get('www-authenticate'), json]).toEqual([
      401,
      'Bearer',
      { message: `the token is missing: ${HOW}` },
    ])
  },
)

it.each([
  ['retry', 'POST', '/admin/parked/retry?all=true'],
  ['delete', 'DELETE', '/admin/parked?all=true'],
])('answers 401 to a request to %s parked positions without a token', async (_, method, path) => {
  expect((await admin.ask(path, { method, headers: {} })).status).toBe(401)
})

it.each([
  'Bearer wrong',
  `Bearer ${TOKEN}x`,
  `Bearer ${TOKEN} x`,
  `Bearer ${TOKEN.toUpperCase()}`,
  `Bearer ${TOKEN.slice(0, -1)}`,
])('answers 401 to the unknown token in the header %s', async (authorization) => {
  const { status, json } = await admin.ask('/admin/status', { headers: { authorization } })
  expect([status, json]).toEqual([401, { message: `the token is unknown: ${HOW}` }])
})

it.each(['Bearer ', 'Bearer', TOKEN, `Basic ${TOKEN}`])(
  'treats the header %s as a missing token',
  async (authorization) => {
    const { status, json } = await admin.ask('/admin/status', { headers: { authorization } })
    expect([status, json]).toEqual([401, { message: `the token is missing: ${HOW}` }])
  },
)

it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, 'Bearer another-token'])(
  'accepts the header %s',
  async (authorization) => {
    expect((await admin.ask('/admin/status', { headers: { authorization } })).status).toBe(200)
  },
)

it('answers 401 to a token that is only in the query', async () => {
  expect((await admin.ask(`/admin/status?token=${TOKEN}`, { headers: {} })).status).toBe(401)
})

it.each(['/healthz', '/readyz', '/metrics'])('answers a request for %s without a token', async (path) => {
  expect((await admin.ask(path, { headers: {} })).status).toBe(200)
})

describe('a token with the role read', () => {
  const headers = { authorization: `Bearer ${READ_TOKEN}` }

  it.each(['/admin/status', '/admin/lanes', '/admin/parked', '/admin/misunderstood'])(
    'a token with the role read may read %s',
    async (path) => {
      expect((await admin.ask(path, { headers })).status).toBe(200)
      expect((await admin.ask(path, { headers, method: 'HEAD' })).status).toBe(200)
    },
  )

  it.each([
    ['POST', '/admin/parked/retry?all=true'],
    ['POST', '/admin/parked/retry?route_id=wrong'],
    ['DELETE', '/admin/parked?all=true'],
  ])('a token with the role read is answered 403 for %s %s', async (method, path) => {
    const { status, json } = await admin.ask(path, { method, headers })
    const message = `this token may only read: ${method} needs a token with the role operate; the log of the start says where the tokens are`
    expect([status, json]).toEqual([403, { message }])
  })

  it('a token with the role read cannot delete parked positions', async () => {
    await store(admin.redis, '7/42/1001')
    await refuse(admin.redis, '7/42/1001', 1, { status: 422, message: 'no' })
    await admin.ask('/admin/parked?all=true', { method: 'DELETE', headers })
    expect((await admin.ask('/admin/status')).json).toMatchObject({ parked: { fixes: 1, lanes: 1 } })
  })
})

it('labels the configured tokens with their place and role', async () => {
  const tokens = [
    { token: 'a', role: 'operate' as const, companies: null },
    { token: 'b', role: 'read' as const, companies: ['7'] },
  ]
  expect(await adminTokens({ admin: { tokens }, data_dir: '' })).toEqual({
    tokens: [
      { token: 'a', role: 'operate', label: 'admin.tokens[0]', scope: EVERYTHING },
      { token: 'b', role: 'read', label: 'admin.tokens[1]', scope: new Scope(['7']) },
    ],
    place: 'admin.tokens of gateway.yaml',
  })
})

it('the generated token is kept in a file that only its owner can read', async () => {
  const dir = join(await dataDir(), 'data')
  const { tokens, place } = await tokensIn(dir)
  const file = join(dir, 'admin-token')
  expect(place).toBe(`the file ${file}`)
  expect(tokens).toEqual([MADE])
  expect(await readFile(file, 'utf8')).toBe(`${tokens[0].token}\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await tokensIn(dir)).tokens).toEqual(tokens)
})

it('the generated token differs for each data folder', async () => {
  const [a, b] = await Promise.all([tokensIn(await dataDir()), tokensIn(await dataDir())])
  expect(a.tokens).not.toEqual(b.tokens)
})

it.each(['', '\n', '\0\0\0'])(
  'the generated token replaces the file content %j, which a power loss or a full disk leaves',
  async (text) => {
    const dir = await dataDir()
    await writeFile(join(dir, 'admin-token'), text)
    expect((await tokensIn(dir)).tokens).toEqual([MADE])
  },
)

it('processes that generate a token at the same time get the same one', async () => {
  const dir = await dataDir()
  const [a, b] = await Promise.all([tokensIn(dir), tokensIn(dir)])
  expect(a.tokens).toEqual(b.tokens)
})

it('a token that a user writes into its file replaces the generated one', async () => {
  const dir = await dataDir()
  await writeFile(join(dir, 'admin-token'), 'my-own-token\n')
  expect((await tokensIn(dir)).tokens).toEqual([{ ...MADE, token: 'my-own-token' }])
})

it.each(['my own token', 'one\ntwo', 'größer'])(
  'refuses a token in the file that no header can carry: %j',
  async (token) => {
    const dir = await dataDir()
    await writeFile(join(dir, 'admin-token'), token)
    const place = `the file ${join(dir, 'admin-token')}`
    const sentence = `The token of ${place} cannot be sent: expected printable ASCII characters without spaces.`
    await expect(tokensIn(dir)).rejects.toThrow(new UserError(sentence))
  },
)

it('the admin port lists its paths if a path is unknown', async () => {
  const { status, json } = await admin.ask('/admin/nothing', { headers: {} })
  const [, list] = /^unknown path; this port has (.*)$/.exec((json as { message: string }).message) ?? []
  expect([status, list.split(', ')]).toEqual([
    404,
    expect.arrayContaining(['GET /admin/status', 'GET|DELETE /admin/parked', 'POST /admin/parked/retry']),
  ])
  expect(list.split(', ').filter((each) => !/^[A-Z|]+ \/admin\/[\w/{}]+$/.test(each))).toEqual([])
})

it.each([
  ['PUT', '/admin/parked', 'GET, HEAD, DELETE'],
  ['GET', '/admin/parked/retry', 'POST'],
  ['PATCH', '/admin/devices/1', 'GET, HEAD, PUT, DELETE'],
  ['OPTIONS', '/admin/status', 'GET, HEAD'],
])('the admin port answers 405 to %s %s', async (method, path, allow) => {
  const { status, headers, json } = await admin.ask(path, { method })
  expect([status, headers.get('allow'), json]).toEqual([405, allow, { message: `method not allowed: use ${allow}` }])
})

it('the admin port answers 422 to a path with a wrong percent-encoding, without quoting it', async () => {
  const { status, json } = await admin.ask('/admin/devices/%zz')
  expect([status, json]).toEqual([422, { message: 'the path cannot be decoded' }])
})

it('the admin port ignores a body of any size if it needs none', async () => {
  const { status, json } = await admin.ask('/admin/parked/retry?all=true', {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: 'x'.repeat(1_000_000),
  })
  expect([status, json]).toEqual([200, { retried: 0 }])
})

it('the admin port forbids browsers to store, run or frame its answers', async () => {
  for (const path of ['/admin/status', '/nothing']) {
    const { headers } = await admin.ask(path)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
  }
})

describe('what a company is told', () => {
  it.each(['replicas_missing', 'connections_full', 'own_clock'] as const)(
    'a company is not told that all is well while the whole system has the finding %s',
    (code) => {
      const found = new Scope(['7']).findings([findingOf({ code, evidence: ['of all'] }, Date.now())])
      expect(found).toMatchObject([{ code, evidence: [] }])
      expect(inEnglish(verdict(found))).not.toContain('ll well')
    },
  )

  it('says of a file that Redis cannot rewrite to no company that the disk is full', () => {
    const found = diagnose({ now: Date.now(), observations: [], redis: { isUnrewritten: true } })
    const [own] = inEnglish(new Scope(['7']).findings(found))
    expect(own).toMatchObject({ code: 'disk_full', evidence: [], message: expect.stringContaining('cannot rewrite') })
    expect(own.action).toMatch(/^see the log of Redis/)
  })
})
