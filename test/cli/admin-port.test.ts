import { describe, expect, it } from 'vitest'
import { answering, STATUS, TOKEN, waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'

const WELL = { json: STATUS }
const status = (...args: string[]) => ['status', '--json', ...args]

it('a command finds the admin port by --url and --token, without a configuration', async () => {
  const server = await answering(() => WELL)
  const cwd = await folder({})
  expect(await waybridge(status(...server.options), { cwd })).toEqual({
    code: 0,
    out: `${JSON.stringify(STATUS)}\n`,
    errors: '',
  })
  expect(server.asked).toMatchObject([{ method: 'GET', path: '/admin/status' }])
})

it('a command finds the admin port by the environment, with a path in the URL; options take precedence', async () => {
  const server = await answering(() => WELL)
  const env = { WAYBRIDGE_ADMIN_URL: `http://127.0.0.1:${server.port}/vans/`, WAYBRIDGE_ADMIN_TOKEN: 'wrong' }
  const cwd = await folder({})
  expect((await waybridge(status('--token', TOKEN), { cwd, env })).code).toBe(0)
  expect(server.asked[0].path).toBe('/vans/admin/status')
})

it('a command finds the admin port by gateway.yaml and the token that the first start generated', async () => {
  const server = await answering(() => WELL)
  const yaml = `admin: { port: ${server.port}, host: 0.0.0.0, behind_proxy: true }\ndata_dir: kept\n`
  const cwd = await folder({ 'config/gateway.yaml': yaml, 'kept/admin-token': `${TOKEN}\n` })
  expect((await waybridge(status(), { cwd })).code).toBe(0)
})

it('a command prefers the port in ports.json and a configured token with the role operate', async () => {
  const server = await answering(() => WELL)
  const yaml = `admin: { port: 1, tokens: [{ token: reader, role: read }, ${TOKEN}] }\n`
  const files = {
    'vans/gateway.yaml': yaml,
    '.data/ports.json': `{"admin":${server.port}}`,
    '.data/admin-token': 'old',
  }
  const cwd = await folder(files)
  expect((await waybridge(status('--config', 'vans'), { cwd })).code).toBe(0)
})

it('a command finds the admin port by gateway.yaml if a power loss emptied ports.json', async () => {
  const server = await answering(() => WELL)
  const yaml = `admin: { port: ${server.port}, tokens: [${TOKEN}] }\n`
  const cwd = await folder({ 'config/gateway.yaml': yaml, '.data/ports.json': '' })
  expect(await waybridge(status(), { cwd })).toMatchObject({ code: 0, errors: '' })
})

it('a command finds the admin port despite mistakes elsewhere in gateway.yaml, such as a missing secret', async () => {
  const server = await answering(() => WELL)
  const yaml = `
admin: { port: ${server.port}, tokens: ["\${env:NOT_SET_HERE}"], oidc: { client_secret: "\${env:NOT_SET_AT_ALL}" } }
companies: [{ company_id: 7, apikey: "\${env:NOT_SET_EITHER}" }]
workers: many
`
  const cwd = await folder({ 'config/gateway.yaml': yaml })
  expect((await waybridge(status('--token', TOKEN), { cwd })).code).toBe(0)
  const { code, errors } = await waybridge(status(), { cwd })
  expect([code, errors]).toEqual([
    1,
    `config/gateway.yaml:2:${yaml.split('\n')[1].indexOf('"') + 1} admin.tokens[0]: the environment variable NOT_SET_HERE is not set\n`,
  ])
})

it('a command says what to do if nothing listens on the admin port', async () => {
  const cwd = await folder({ 'config/gateway.yaml': 'admin: { port: 1 }', '.data/admin-token': TOKEN })
  expect(await waybridge(status(), { cwd })).toEqual({
    code: 1,
    out: '',
    errors: 'Nothing answers at http://127.0.0.1:1: start waybridge, or give the address with --url.\n',
  })
})

it('a command says what to do if the host of the admin port does not exist', async () => {
  const { code, errors } = await waybridge(status('--url', 'http://waybridge.invalid:8080', '--token', TOKEN))
  expect(code).toBe(1)
  expect(errors).toMatch(/^Nothing answers at http:\/\/waybridge\.invalid:8080 \(E\w+\): start waybridge/)
})

it.each([
  [[], {}, 'config: there is no such folder; give --config, or --url and --token of the admin port.'],
  [['--config', 'x'], {}, 'x: there is no such folder; give --config, or --url and --token of the admin port.'],
  [
    [],
    { 'config/gateway.yaml': '' },
    'There is no .data/admin-token: start waybridge, which creates it, or give the token of the admin port with --token or WAYBRIDGE_ADMIN_TOKEN.',
  ],
  [
    ['--token', TOKEN],
    { 'config/gateway.yaml': 'admin: { port: 0 }' },
    'There is no .data/ports.json with the admin port: start waybridge, or give the address with --url.',
  ],
  [
    [],
    { 'config/gateway.yaml': 'admin: { port: x, tokens: [a] }' },
    'config/gateway.yaml:1:16 admin.port: expected a port from 0 to 65535',
  ],
  [
    ['--token', TOKEN, '--url', 'localhost:8080'],
    {},
    '--url: expected an http or https URL without user name, query or fragment, such as http://127.0.0.1:8080.',
  ],
] as const)('a command with %j says what to do in a folder with %j', async (args, files, sentence) => {
  const { code, errors } = await waybridge(status(...args), { cwd: await folder(files) })
  expect([code, errors]).toEqual([1, `${sentence}\n`])
})

it('a command does not send the token of this machine to another one unless --config names it', async () => {
  const server = await answering(() => WELL)
  const cwd = await folder({ 'config/gateway.yaml': '', '.data/admin-token': TOKEN })
  const url = `http://127.0.0.1:${server.port}`
  const { code, errors } = await waybridge(status('--url', url), { cwd })
  expect([code, errors]).toEqual([1, 'Give the token of the admin port with --token or WAYBRIDGE_ADMIN_TOKEN.\n'])
  expect(server.asked).toEqual([])
  expect((await waybridge(status('--url', url, '--config', 'config'), { cwd })).code).toBe(0)
})

it.each([
  [['--token', 'canary-wrong'], {}, '--token'],
  [[], { WAYBRIDGE_ADMIN_TOKEN: 'canary-wrong' }, 'WAYBRIDGE_ADMIN_TOKEN'],
  [['--config', 'config'], {}, 'the file .data/admin-token'],
  [['--config', 'vans'], {}, 'admin.tokens of vans/gateway.yaml'],
])('a refused token is named by its place, and never shown: %j %j', async (args, env, place) => {
  const server = await answering(() => WELL)
  const cwd = await folder({
    'config/gateway.yaml': '',
    'vans/gateway.yaml': 'admin: { tokens: [canary-wrong] }',
    '.data/admin-token': 'canary-wrong',
  })
  const ended = await waybridge(status('--url', `http://127.0.0.1:${server.port}`, ...args), { cwd, env })
  expect(ended).toEqual({
    code: 1,
    out: '',
    errors: `The admin port answers 401: not a token of this port (the token came from ${place})\n`,
  })
})

describe('a token that cannot be sent', () => {
  const token = 'canary-1\ncanary-2'
  const place = 'The token of'

  it.each([
    [['--token', token], {}, `${place} --token`],
    [[], { WAYBRIDGE_ADMIN_TOKEN: 'canär' }, `${place} WAYBRIDGE_ADMIN_TOKEN`],
    [['--config', 'config'], {}, `${place} the file .data/admin-token`],
  ])('a token that cannot be sent is named by its place, and never shown: %j %j', async (args, env, said) => {
    const cwd = await folder({ 'config/gateway.yaml': '', '.data/admin-token': `${token}\n` })
    const ended = await waybridge(status('--url', 'http://127.0.0.1:9', ...args), { cwd, env })
    const errors = `${said} cannot be sent: expected printable ASCII characters without spaces.\n`
    expect(ended).toEqual({ code: 1, out: '', errors })
  })
})

it('a refused token that may only read is named by its place', async () => {
  const server = await answering(() => ({ status: 403, json: { message: 'this token may read only' } }))
  const { code, errors } = await waybridge(status(...server.options))
  expect([code, errors]).toEqual([
    1,
    'The admin port answers 403: this token may read only (the token came from --token)\n',
  ])
})

it.each([
  ['status'],
  ['status', '--json'],
  ['why', '1'],
  ['routes', 'check', 'routes.csv'],
  ['positions', '--company', '7', '--route', '1', '--from', '1'],
  ['positions', '--company', '7', '--route', '1', '--from', '1', '--csv'],
])('a command refuses JSON of another server: %s', async (...args) => {
  const server = await answering(() => ({ json: { ok: true } }))
  const cwd = await folder({ 'routes.csv': 'device,route_id,date\n12,1,2026-11-20\n' })
  expect(await waybridge([...args, ...server.options], { cwd })).toEqual({
    code: 1,
    out: '',
    errors: `http://127.0.0.1:${server.port} does not answer like the admin port of waybridge.\n`,
  })
})

it.each([
  [{ text: '<html>' }, 'does not answer like the admin port of waybridge.'],
  [{ status: 410, text: 'not\nfound' }, 'The admin port answers 410: not found'],
  [
    { status: 404, json: { message: 'there is no such operation' } },
    'has no /admin/status (404): it is not the admin port (admin.port in gateway.yaml, 8080 by default).',
  ],
  [
    { status: 503, json: { message: 'Redis does not answer: ask again later' } },
    'Redis does not answer: ask again later',
  ],
  [
    { status: 502, json: { message: '\u001b]0;mine\u0007\u001b[2Jno\u009b31m\u202eway' } },
    '502: ]0;mine [2Jno 31m way\n',
  ],
  [{ status: 502, text: '' }, 'The admin port answers 502: no message'],
])('a command explains an unusable answer of the admin port: %j', async (reply, sentence) => {
  const server = await answering(() => reply)
  const { code, out, errors } = await waybridge(status(...server.options))
  expect([code, out]).toEqual([1, ''])
  expect(errors).toContain(sentence)
})
