import { afterAll, expect, it } from 'vitest'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { CLIENT, PlainBrowser, startProvider } from '../support/oidc.ts'

const provider = await startProvider()
const PUBLIC = 'https://gateway.example'
const admin = adminFixture({
  gateway: `admin:
  port: 0
  tokens: [${TOKEN}]
  behind_proxy: true
  oidc: { issuer: ${provider.issuer}, client_id: ${CLIENT.client_id}, client_secret: ${CLIENT.client_secret}, url: ${PUBLIC}/, roles: { it: { role: operate } } }
`,
})

afterAll(() => provider.end())

it('behind a proxy the provider redirects to the public URL, and cookies are sent only over HTTPS', async () => {
  provider.groups.set('anna', ['it'])
  provider.open(PUBLIC)
  const browser = new PlainBrowser()
  const back = await browser.untilBack(`${admin.url}/admin/oidc/login`, 'anna')
  expect(back.href).toMatch(/^https:\/\/gateway\.example\/admin\/oidc\/callback\?code=/)
  // The proxy passes the request on.
  const answer = await browser.send(admin.url + back.pathname + back.search)
  const [pending, signedIn] = answer.headers.getSetCookie()
  expect(pending).toMatch(/^__Host-waybridge-sign-in\.[\w-]+=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0; Secure$/)
  expect(signedIn).toMatch(/^__Host-waybridge=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  const headers = { 'x-waybridge-page': '1' }
  expect((await browser.send(`${admin.url}/admin/token`, { headers })).status).toBe(200)
  const out = await browser.send(`${admin.url}/admin/oidc/logout`, { method: 'POST', headers })
  const { url } = (await out.json()) as { url: string }
  expect(new URL(url).searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC}/`)
})
