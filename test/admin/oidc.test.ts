import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { grantOf } from '../../src/admin/access.ts'
import { addSignIn, keys } from '../../src/store/index.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { followEvents } from '../support/events.ts'
import { freePorts } from '../support/free-ports.ts'
import { CLIENT, PlainBrowser, startProvider } from '../support/oidc.ts'
import { CLI, endChild } from '../support/processes.ts'

const provider = await startProvider()
const OIDC = `oidc:
    issuer: ${provider.issuer}
    client_id: ${CLIENT.client_id}
    client_secret: ${CLIENT.client_secret}
    roles:
      dispatch: { role: operate }
      seven: { role: operate, companies: [7] }
      guests: { role: read, companies: [7] }
      auditors: { role: read }
`
const admin = adminFixture({ gateway: `admin:\n  port: 0\n  tokens: [${TOKEN}]\n  ${OIDC}` })
const PAGE = { 'x-waybridge-page': '1' }
const soon = { timeout: 30_000, interval: 50 }

afterAll(() => provider.end())
beforeEach(() => {
  provider.groups.clear()
  provider.groups.set('anna', ['dispatch', 'others'])
  provider.groups.set('bert', ['guests'])
  provider.groups.set('carl', ['others'])
  provider.open(admin.url)
})

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Signs a person in, with their own browser. */
async function signIn(person: string, browser = new PlainBrowser()) {
  const { url } = await browser.visit(`${admin.url}/admin/oidc/login`, person)
  const ask = (path: string, init: Asking = {}) =>
    browser.send(admin.url + path, { ...init, headers: { ...PAGE, ...init.headers } })
  const statusOf = async (path: string, init: Asking = {}) => (await ask(path, init)).status
  return { browser, to: url.replace(admin.url, ''), ask, statusOf }
}

/** Replaces a part of gateway.yaml until the test ends. */
async function change(from: string, to: string): Promise<void> {
  const file = join(admin.dir, 'gateway.yaml')
  const before = await readFile(file, 'utf8')
  const { oidc } = admin.live.admin()
  onTestFinished(async () => {
    await writeFile(file, before)
    await expect.poll(() => admin.live.admin().oidc, soon).toEqual(oidc)
  })
  expect(before).toContain(from)
  await writeFile(file, before.replace(from, to))
}

/** Starts another admin process on the same Redis; resolves to its port. */
async function anotherProcess(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-other-'))
  const [port] = await freePorts(1)
  const yaml = (await readFile(join(admin.dir, 'gateway.yaml'), 'utf8')).replace('port: 0', `port: ${port}`)
  await writeFile(join(dir, 'gateway.yaml'), `${yaml.replaceAll(admin.dir, dir)}monitor: { port: 0 }\n`)
  const child = spawn(process.execPath, [CLI, 'admin', '--config', dir], { stdio: 'ignore' })
  onTestFinished(async () => {
    await endChild(child)
    await rm(dir, { recursive: true })
  })
  const answer = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(answer, soon).toBe(200)
  return port
}

/** Resolves when all sign-ins have to be renewed at the provider. */
async function untilDue(): Promise<void> {
  const names = await admin.redis.keys(`${keys.signIn('')}*`)
  const signIns = (await admin.redis.mget(names)).map((text) => JSON.parse(text ?? '') as { until: number })
  expect(signIns).not.toEqual([])
  await expect.poll(() => signIns.every(({ until }) => until <= Date.now()), soon).toBe(true)
}

const json = async (answer: Promise<Response>) => (await answer).json() as Promise<Record<string, unknown>>

it('a person who signs in returns to the page, and may do what their group may do', async () => {
  const anna = await signIn('anna')
  expect(anna.to).toBe('/')
  expect(await json(anna.ask('/admin/token'))).toEqual({ name: 'oidc:anna@example.com', role: 'operate' })
  expect(await json(anna.ask('/admin/oidc'))).toEqual({ enabled: true, signed_in: true })
  expect(await anna.statusOf('/admin/parked?all=true', { method: 'DELETE' })).toBe(200)
})

it('a person who signs in is in the audit log with their name and their id at the provider', async () => {
  const anna = await signIn('anna')
  await anna.ask('/admin/parked?all=true', { method: 'DELETE' })
  const { results } = await json(anna.ask('/admin/audit'))
  expect(results).toMatchObject([{ token: 'oidc:anna@example.com', subject: 'anna', operation: '/admin/parked' }])
})

it('a person who signs in sees only the companies of their group, and changes nothing with the role read', async () => {
  const bert = await signIn('bert')
  expect(await json(bert.ask('/admin/token'))).toMatchObject({ role: 'read', companies: ['7'] })
  const refused = await bert.ask('/admin/parked?all=true', { method: 'DELETE' })
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain('your groups may only read')
  expect(await bert.statusOf('/admin/arrivals')).toBe(403)
})

it('a person without a suitable group is told so, and is not signed in', async () => {
  const carl = await signIn('carl')
  expect(carl.to).toBe('/#sign-in=no_group')
  expect(await carl.statusOf('/admin/status')).toBe(401)
  expect(await admin.redis.zcard(keys.signIns)).toBe(0)
})

it('a person is told if the provider did not let them in', async () => {
  expect((await signIn('')).to).toBe('/#sign-in=refused')
})

it('a sign-in finds groups that the provider tells only on request', async () => {
  provider.open(admin.url, { groupsInToken: false })
  const anna = await signIn('anna')
  expect(provider.asked).toContain('GET /me')
  expect(await anna.statusOf('/admin/status')).toBe(200)
})

it('a person signs out at the gateway, and is sent to the provider to sign out there', async () => {
  const anna = await signIn('anna')
  const { url } = (await json(anna.ask('/admin/oidc/logout', { method: 'POST' }))) as { url: string }
  expect(url).toMatch(new RegExp(`^${provider.issuer}/session/end\\?id_token_hint=.*post_logout_redirect_uri=`))
  expect(await anna.statusOf('/admin/status')).toBe(401)
  expect(await admin.redis.zcard(keys.signIns)).toBe(0)
  // A kept cookie is no longer valid.
  const again = await signIn('anna')
  const [[name, value]] = again.browser.cookies(admin.url)
  await again.ask('/admin/oidc/logout', { method: 'POST' })
  again.browser.cookies(admin.url).set(name, value)
  expect(await again.statusOf('/admin/status')).toBe(401)
})

it('the cookie of a sign-in is hidden from scripts and other sites, and needs the header of the page', async () => {
  const browser = new PlainBrowser()
  const anna = await signIn('anna', browser)
  const pending = (await browser.send(`${admin.url}/admin/oidc/login`)).headers.getSetCookie()
  expect(pending).toEqual([expect.stringMatching(/^waybridge-sign-in\..*; HttpOnly; SameSite=Lax; Max-Age=900$/)])
  expect(await anna.statusOf('/admin/status')).toBe(200)
  expect((await browser.send(`${admin.url}/admin/status`)).status).toBe(401)
  const del = await browser.send(`${admin.url}/admin/parked?all=true`, { method: 'DELETE' })
  expect(del.status).toBe(401)
  expect((await browser.send(`${admin.url}/admin/oidc/logout`, { method: 'POST' })).status).toBe(403)
  expect(await anna.statusOf('/admin/status')).toBe(200)
})

it('the admin port refuses a preflight of another origin, so that its page cannot send the header', async () => {
  const headers = { origin: 'http://evil.example', 'access-control-request-headers': 'x-waybridge-page' }
  const answer = await fetch(`${admin.url}/admin/parked`, { method: 'OPTIONS', headers })
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

it('the cookie of a sign-in does not replace a wrong token', async () => {
  const anna = await signIn('anna')
  expect(await anna.statusOf('/admin/status', { headers: { authorization: 'Bearer wrong' } })).toBe(401)
})

it('neither the cookie of a sign-in nor a token of the provider is in Redis', async () => {
  const { browser } = await signIn('anna')
  const [[, value]] = browser.cookies(admin.url)
  const [name] = await admin.redis.keys(`${keys.signIn('')}*`)
  const stored = (await admin.redis.get(name)) ?? ''
  expect(JSON.parse(stored)).toMatchObject({ name: 'anna@example.com', subject: 'anna' })
  expect(name + stored).not.toContain(value)
  expect(stored).not.toMatch(/eyJ|refresh/)
})

it('the callback of a sign-in is refused if no login of this browser began it', async () => {
  const { status, url } = await new PlainBrowser().visit(`${admin.url}/admin/oidc/callback?code=x&state=y`)
  expect([status, url]).toEqual([303, `${admin.url}/#sign-in=expired`])
})

it('the callback of a sign-in is refused with the code of another browser', async () => {
  const [mine, others] = [new PlainBrowser(), new PlainBrowser()]
  const login = `${admin.url}/admin/oidc/login`
  const own = await mine.untilBack(login, 'bert')
  const code = (await others.untilBack(login, 'anna')).searchParams.get('code')!
  own.searchParams.set('code', code)
  expect((await mine.visit(own.href)).url).toBe(`${admin.url}/#sign-in=failed`)
})

it('two tabs can sign in side by side', async () => {
  const browser = new PlainBrowser()
  const [first, second] = await Promise.all([1, 2].map(() => browser.send(`${admin.url}/admin/oidc/login`)))
  for (const login of [second, first])
    expect((await browser.visit(login.headers.get('location')!, 'anna')).url).toBe(`${admin.url}/`)
  expect((await browser.send(`${admin.url}/admin/status`, { headers: PAGE })).status).toBe(200)
})

it('a browser keeps at most eight cookies of unfinished sign-ins', async () => {
  const browser = new PlainBrowser()
  for (let count = 0; count < 20; count++) {
    await browser.send(`${admin.url}/admin/oidc/login`)
    expect(browser.cookies(admin.url).size).toBeLessThanOrEqual(8)
  }
  expect((await signIn('anna', browser)).to).toBe('/')
})

it('the number of sign-ins is bounded, and the oldest person has to sign in again', async () => {
  const anna = await signIn('anna')
  const add = (subject: string, maxMs = 60_000) => {
    const other = { name: 'x', subject, groups: [], by: '', until: 0, sealed: '' }
    return addSignIn(admin.redis, `other-${subject}`, { signIn: other, most: 50, mostOfPerson: 20, maxMs })
  }
  // A sign-in that ends sooner does not change the order.
  await add('short', 1)
  for (let count = 0; count < 49; count++) await add(`${count}`)
  expect(await anna.statusOf('/admin/status')).toBe(200)
  await add('last')
  expect(await anna.statusOf('/admin/status')).toBe(401)
  expect(await admin.redis.zcard(keys.signIns)).toBe(50)
  expect(await admin.redis.keys(`${keys.signIn('')}*`)).toHaveLength(50)
  expect((await signIn('bert')).to).toBe('/')
})

it('the sign-ins of one person are bounded, and sign out nobody else', async () => {
  const bert = await signIn('bert')
  const all = [await signIn('anna')]
  while (all.length <= 20) all.push(await signIn('anna'))
  const statuses = await Promise.all([bert, ...all].map((each) => each.statusOf('/admin/status')))
  expect(statuses).toEqual([200, 401, ...Array.from({ length: 20 }, () => 200)])
})

it('another admin process knows a sign-in, renews it once together with the first, and knows its end', async () => {
  provider.open(admin.url, { tokenS: 3 })
  const port = await anotherProcess()
  const anna = await signIn('anna')
  const cookie = Array.from(anna.browser.cookies(admin.url), ([name, value]) => `${name}=${value}`).join('; ')
  const there = async () =>
    (await fetch(`http://127.0.0.1:${port}/admin/token`, { headers: { ...PAGE, cookie } })).status
  await untilDue()
  const renewals = () => provider.asked.filter((asked) => asked === 'POST /token').length
  const before = renewals()
  expect(await Promise.all([there(), anna.statusOf('/admin/token'), there()])).toEqual([200, 200, 200])
  expect(renewals()).toBe(before + 1)
  await anna.ask('/admin/oidc/logout', { method: 'POST' })
  expect(await there()).toBe(401)
})

it('removing a group from admin.oidc ends the sign-ins and the event streams of its members at once', async () => {
  const [anna, bert] = [await signIn('anna'), await signIn('bert')]
  const cookie = Array.from(bert.browser.cookies(admin.url), ([name, value]) => `${name}=${value}`).join('; ')
  const stream = await followEvents(`${admin.url}/admin/events`, { ...PAGE, cookie })
  onTestFinished(() => stream.close())
  await change('guests: { role: read, companies: [7] }', 'nobody: { role: read }')
  await expect.poll(() => bert.statusOf('/admin/status'), soon).toBe(401)
  await expect.poll(() => stream.isEnded, soon).toBe(true)
  expect(await anna.statusOf('/admin/status')).toBe(200)
  expect(await admin.redis.zcard(keys.signIns)).toBe(1)
})

it('another role of a group in admin.oidc takes effect during a sign-in', async () => {
  const anna = await signIn('anna')
  await change('dispatch: { role: operate }', 'dispatch: { role: read, companies: [7] }')
  const remove = () => anna.statusOf('/admin/parked?all=true', { method: 'DELETE' })
  await expect.poll(remove, soon).toBe(403)
  expect(await json(anna.ask('/admin/token'))).toMatchObject({ role: 'read', companies: ['7'] })
})

it('another groups_claim in admin.oidc ends the sign-ins with groups of the previous claim', async () => {
  const anna = await signIn('anna')
  await change('    roles:', '    groups_claim: teams\n    roles:')
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(401)
})

it('removing admin.oidc ends all sign-ins', async () => {
  const anna = await signIn('anna')
  await change(OIDC, 'oidc: null\n')
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(401)
  expect(await json(anna.ask('/admin/oidc'))).toEqual({ enabled: false, signed_in: false })
  expect((await signIn('anna')).to).toBe('/#sign-in=off')
})

it('a late answer of the previous provider signs in nobody once admin.oidc names another one', async () => {
  const next = await startProvider()
  onTestFinished(() => next.end())
  const browser = new PlainBrowser()
  const back = await browser.untilBack(`${admin.url}/admin/oidc/login`, 'anna')
  const answering = Promise.withResolvers<void>()
  onTestFinished(() => void (provider.answersAfter = undefined))
  ;[provider.answersAfter, provider.asked.length] = [answering.promise, 0]
  const visit = browser.visit(back.href)
  await expect.poll(() => provider.asked, soon).toContain('POST /token')
  await change(provider.issuer, next.issuer)
  await expect.poll(() => admin.live.admin().oidc?.issuer, soon).toBe(next.issuer)
  answering.resolve()
  expect((await visit).url).toBe(`${admin.url}/#sign-in=failed`)
  expect((await browser.send(`${admin.url}/admin/status`, { headers: PAGE })).status).toBe(401)
})

it('tokens work while the provider is down, and the page shows the failure and the recovery', async () => {
  onTestFinished(() => void (provider.isAway = false))
  provider.isAway = true
  // Another client makes the gateway ask the provider again.
  await change(`client_secret: ${CLIENT.client_secret}`, 'client_secret: another-secret')
  const state = () => json(fetch(`${admin.url}/admin/oidc`, { headers: { 'accept-language': 'de' } }))
  const problem = `${provider.issuer} antwortet nicht als Anbieter von OpenID Connect: it answers 503`
  await expect.poll(state, soon).toEqual({ enabled: true, signed_in: false, problem })
  expect((await signIn('anna')).to).toBe('/#sign-in=no_provider')
  expect((await admin.ask('/admin/status')).status).toBe(200)
  provider.isAway = false
  await expect.poll(state, soon).toEqual({ enabled: true, signed_in: false })
  // The provider does not know this secret.
  expect((await signIn('anna')).to).toBe('/#sign-in=failed')
})

it('a provider that never answers delays only event streams of people whose sign-in is due', async () => {
  const followed = async ({ browser }: Awaited<ReturnType<typeof signIn>>) => {
    const cookie = Array.from(browser.cookies(admin.url), ([name, value]) => `${name}=${value}`).join('; ')
    const stream = await followEvents(`${admin.url}/admin/events`, { ...PAGE, cookie })
    onTestFinished(() => stream.close())
    return stream
  }
  const ofBert = await followed(await signIn('bert'))
  provider.open(admin.url, { tokenS: 3 })
  const ofAnna = await followed(await signIn('anna'))
  onTestFinished(() => void (provider.isSilent = false))
  provider.isSilent = true
  provider.asked.length = 0
  await expect.poll(() => provider.asked, soon).toContain('POST /token')
  await change('guests: { role: read, companies: [7] }', 'nobody: { role: read }')
  // This is before the request to the provider times out.
  await expect.poll(() => [ofAnna.isEnded, ofBert.isEnded], { timeout: 6000, interval: 50 }).toEqual([true, true])
})

it('a sign-in survives a failure of Redis, and a person who returns meanwhile is told', async () => {
  const anna = await signIn('anna')
  const login = await anna.browser.send(`${admin.url}/admin/oidc/login`)
  await admin.server.kill('SIGKILL')
  expect((await anna.browser.visit(login.headers.get('location')!, 'anna')).url).toBe(`${admin.url}/#sign-in=no_redis`)
  expect(await anna.statusOf('/admin/status')).toBe(503)
  await admin.server.restart()
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(200)
})

it('an expired sign-in is renewed once for parallel requests, with the present groups', async () => {
  provider.open(admin.url, { tokenS: 3 })
  const anna = await signIn('anna')
  provider.groups.set('anna', ['guests'])
  const renewals = () => provider.asked.filter((asked) => asked === 'POST /token').length
  const before = renewals()
  await expect.poll(async () => (await json(anna.ask('/admin/token'))).role, soon).toBe('read')
  expect(renewals()).toBe(before + 1)
  await untilDue()
  const all = await Promise.all(Array.from({ length: 10 }, () => anna.statusOf('/admin/status')))
  expect(new Set(all)).toEqual(new Set([200]))
  expect(renewals()).toBe(before + 2)
})

it('an expired sign-in ends if the person is unknown to the provider or in no group', async () => {
  provider.open(admin.url, { tokenS: 1 })
  const [anna, bert] = [await signIn('anna'), await signIn('bert')]
  provider.groups.delete('anna')
  provider.groups.set('bert', [])
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(401)
  await expect.poll(() => bert.statusOf('/admin/status'), soon).toBe(401)
  await expect.poll(() => admin.redis.zcard(keys.signIns), soon).toBe(0)
})

it('an expired sign-in waits for a provider that is down, and continues afterwards', async () => {
  provider.open(admin.url, { tokenS: 1 })
  const anna = await signIn('anna')
  onTestFinished(() => void (provider.isAway = false))
  provider.isAway = true
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(503)
  const { message } = await json(anna.ask('/admin/status'))
  expect(message).toBe('the provider of the sign-in does not answer: try again later')
  provider.isAway = false
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(200)
})

it('an expired sign-in ends if the provider gives no refresh token', async () => {
  provider.open(admin.url, { tokenS: 1, renews: false })
  const anna = await signIn('anna')
  expect(anna.to).toBe('/')
  await expect.poll(() => anna.statusOf('/admin/status'), soon).toBe(401)
  await expect.poll(() => admin.redis.keys(`${keys.signIn('')}*`), soon).toEqual([])
})

const roles = {
  all: { role: 'read', companies: null },
  seven: { role: 'operate', companies: ['7'] },
  eight: { role: 'operate', companies: ['8'] },
  nine: { role: 'read', companies: ['9'] },
  ten: { role: 'read', companies: ['10'] },
} satisfies Parameters<typeof grantOf>[1]
const granted = (...groups: string[]) => {
  const grant = grantOf(groups, roles)
  return grant && [grant.role, grant.scope.key]
}

it.each([
  [
    ['nine', 'ten'],
    ['read', '10,9'],
  ],
  [
    ['seven', 'eight', 'nine'],
    ['operate', '7,8'],
  ],
  [
    ['all', 'nine'],
    ['read', 'all'],
  ],
  [
    ['all', 'seven'],
    ['operate', '7'],
  ],
  [
    ['unknown', 'seven'],
    ['operate', '7'],
  ],
  [['unknown', 'toString', '__proto__'], undefined],
  [[], undefined],
])('the permissions of a person in the groups %j are %j', (groups, expected) => {
  expect(granted(...groups)).toEqual(expected)
})
