import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { freePorts } from '../support/free-ports.ts'
import { RosterServer } from '../support/roster-server.ts'
import { listen } from '../support/tracking/http-servers.ts'

const HEADER = 'device,courier_id,route_id,from,until\n'
const LINE = 'Van 12,,1001,2099-01-01T06:00:00Z,2099-01-01T20:00:00Z\n'

let certificates: CertificateMaker
let authority: Issued
let trusted: Issued
beforeAll(async () => {
  certificates = await CertificateMaker.create()
  authority = await certificates.authority('authority')
  trusted = await certificates.server('roster', { by: authority, days: 300 })
})
afterAll(() => certificates.remove())

/** Runs `check --live` with a roster pulled from a server with a certificate of `ca`; its output has no secret. */
async function checkPull(url: string, { ca = authority.files.cert, more = '', options = [] as string[] } = {}) {
  const api = await listen(createServer((request, response) => response.end(request.method === 'GET' ? '[]' : '')))
  const pull = `{ url: "${url}?key=canary-key", company_id: 7, token: canary-token, ca: ${ca} }`
  const dir = await folder({
    'gateway.yaml': `
tracking: { base_url: "${api}" }
data_dir: data
companies: [{ company_id: 7, apikey: k7 }, { company_id: 8, apikey: k8 }]
roster: { pull: [${pull}${more}] }
`,
    'devices.yaml': '"1": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n',
  })
  const { code, errors, out } = await waybridge(['check', '--live', ...options, '--config', dir])
  expect(out + errors).not.toContain('canary')
  const lines = out.trimEnd().split('\n')
  return { code, out, lines: lines.slice(lines.findIndex((line) => line.startsWith('roster of '))) }
}

async function serving(text: string, certificate = trusted): Promise<RosterServer> {
  const server = await RosterServer.start(certificate)
  server.text = text
  return server
}

/** Returns the first line printed for each roster. */
function heads({ lines }: { readonly lines: readonly string[] }): string[] {
  return lines.filter((line) => line.startsWith('roster of '))
}

it('check --live pulls a roster once with its token, and says that it is ok', async () => {
  const server = await serving(HEADER + LINE)
  const { code, lines } = await checkPull(server.url())
  expect(lines).toEqual([
    `roster of company 7, ${server.url()}`,
    expect.stringMatching(/^ {2}✓ dns {9}localhost has the address /),
    expect.stringMatching(/^ {2}✓ connection {2}connected to \S+ port \d+ in \d+ ms$/),
    expect.stringMatching(/^ {2}✓ tls {9}the certificate of localhost by authority is trusted and ends on /),
    expect.stringMatching(/^ {2}✓ roster {6}200 in \d+ ms: 1 of 1 lines are good$/),
    'The tracking API is what it should be, as far as it was tested. So is each roster that is pulled.',
  ])
  expect(code).toBe(0)
  expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    ['/roster.csv?key=canary-key', 'Bearer canary-token'],
  ])
})

it('check --live says which lines of a pulled roster are left out, and does not fail', async () => {
  const server = await serving(`${HEADER}${LINE}Van 13,,1,2099-01-01T06:00:00Z,\nVan 12,,none,2099-01-01T06:00:00Z,\n`)
  const { code, lines } = await checkPull(server.url())
  expect(lines[4]).toMatch(
    /^ {2}! roster {6}200 in \d+ ms: 1 of 3 lines are good; line 3: device: no device has the id or the name "Van 13": did you mean Van 12\?; line 4: route_id: .* → correct these lines/,
  )
  expect(code).toBe(0)
})

it.each<[string, (response: { status: number; text: string }) => void, RegExp]>([
  [
    'its server wants another token',
    (answer) => (answer.status = 401),
    /its server answers 401 → correct roster\.pull\[0\]\.token, or ask/,
  ],
  ['it is not there', (answer) => (answer.status = 404), /its server answers 404 → correct roster\.pull\[0\]\.url$/],
  [
    'its server fails',
    (answer) => (answer.status = 503),
    /its server answers 503 → tell who runs its server, or try later$/,
  ],
  [
    'a login page comes',
    (answer) => (answer.text = '<html>Log in'),
    /200, and it is refused: it is a page \(HTML\), no roster: .* → correct the roster/,
  ],
  [
    'no line of it is good',
    (answer) => (answer.text = `${HEADER}Van 12,,none,2099-01-01T06:00:00Z,\n`),
    /0 of 1 lines are good; line 2: route_id: .* → correct the roster where it is made, or its URL$/,
  ],
])('check --live fails for a pulled roster if %s', async (_, change, line) => {
  const answer = { status: 200, text: HEADER + LINE }
  change(answer)
  const server = await serving('')
  server.answer = (_request, response) => response.writeHead(answer.status).end(answer.text)
  const { code, lines } = await checkPull(server.url())
  expect(lines[4]).toMatch(/^ {2}✖ roster {6}/)
  expect(lines[4]).toMatch(line)
  expect(lines[5]).toBe('The test fails for 1 pulled roster.')
  expect(code).toBe(1)
})

it('check --live fails for a pulled roster with an untrusted certificate, and says what to change', async () => {
  const server = await serving(HEADER + LINE)
  const { code, lines } = await checkPull(server.url(), { ca: 'null' })
  expect(lines.slice(3)).toEqual([
    '  ✖ tls         the certificate of localhost is signed by authority, whom this machine does not trust → if the authority is your own, name its certificate in roster.pull[0].ca; otherwise correct roster.pull[0].url, or have the certificate of its server renewed',
    '  – roster      not tested, since a step before failed',
    'The test fails for 1 pulled roster.',
  ])
  expect([code, server.requests]).toEqual([1, []])
})

it('check --live warns of a certificate of a roster server that ends within 14 days', async () => {
  const server = await serving(HEADER + LINE, await certificates.server('soon', { by: authority, days: 3 }))
  const { code, lines } = await checkPull(server.url())
  expect(lines[3]).toMatch(/^ {2}! tls .* ends on \d{4}-\d\d-\d\d → have the certificate of its server renewed$/)
  expect(code).toBe(0)
})

it('check --live fails if nothing listens at the address of a pulled roster', async () => {
  const [port] = await freePorts(1)
  const { code, lines } = await checkPull(`https://127.0.0.1:${port}/roster.csv`)
  expect(lines[2]).toBe(
    `  ✖ connection  127.0.0.1 port ${port} refuses connections → see that its server runs, and correct roster.pull[0].url, or the firewall in between`,
  )
  expect(code).toBe(1)
})

it('check --live tests the pulled rosters only of the given companies', async () => {
  const server = await serving(HEADER + LINE)
  const other = `, { url: "${server.url('/other.csv')}", company_id: 8, ca: ${authority.files.cert} }`
  expect(heads(await checkPull(server.url(), { more: other }))).toEqual([
    `roster of company 7, ${server.url()}`,
    `roster of company 8, ${server.url('/other.csv')}`,
  ])
  expect(heads(await checkPull(server.url(), { more: other, options: ['--company', '8'] }))).toEqual([
    `roster of company 8, ${server.url('/other.csv')}`,
  ])
})
