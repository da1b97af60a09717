import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { chromiumOptions, expectAccessible, findChromium, pageFixture } from '../support/browser.ts'
import { CLIENT, startProvider } from '../support/oidc.ts'

const provider = await startProvider()
const ROLES = `      dispatch: { role: operate, companies: [7] }
      guests: { role: read }
`
const ADMIN = `admin:
  port: 0
  host: 127.0.0.1
  oidc:
    issuer: ${provider.issuer}
    client_id: ${CLIENT.client_id}
    client_secret: ${CLIENT.client_secret}
    roles:
`

const verdict = (page: Page) => page.locator('.verdict h1').waitFor()

describe.skipIf(!findChromium())('the sign-in of the page', () => {
  const fixture = pageFixture(
    { 'devices.yaml': '"356307042441013": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n' },
    ADMIN + ROLES,
  )
  let browser: Browser

  beforeAll(async () => void (browser = await chromium.launch(chromiumOptions())))
  afterAll(async () => {
    await browser.close()
    provider.end()
  })
  beforeEach(() => {
    provider.groups.clear()
    provider.groups.set('anna', ['dispatch'])
    provider.groups.set('bert', ['guests'])
    provider.groups.set('carl', [])
    provider.open(origin())
  })

  const origin = () => `http://127.0.0.1:${fixture.product.ports.admin}`

  /** Opens a browser context of one person. */
  async function newContext(locale = 'en-GB'): Promise<BrowserContext> {
    const context = await browser.newContext({ locale })
    context.setDefaultTimeout(60_000)
    onTestFinished(() => context.close())
    return context
  }

  /** Opens the page and signs in; resolves when the provider has redirected back. */
  async function signIn(page: Page, person: string, view = '/'): Promise<void> {
    await page.goto(`${origin()}/#${view}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Person').fill(person)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(`${origin()}/**`)
  }

  it('the page shows a button for the sign-in, and the field for a token behind another one, and both work', async () => {
    const page = await (await newContext()).newPage()
    await page.goto(`${origin()}/`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.getByLabel('Token').count()).toBe(0)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Use a token' }).click()
    await page.getByLabel('Token').fill(fixture.token)
    await page.getByRole('button', { name: 'Open' }).click()
    await verdict(page)
  })

  it('the sign-in returns to the previous view, lasts over a reload and in another tab, and has events', async () => {
    const context = await newContext()
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) faults.push(message.text())
    })
    await signIn(page, 'anna', '/vans/356307042441013')
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    await page.locator('.freshness.is-live').waitFor()
    const other = await context.newPage()
    await other.goto(`${origin()}/`)
    await verdict(other)
    const cookie = (await context.cookies(origin())).find(({ name }) => name === 'waybridge')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    expect(faults).toEqual([])
  })

  it('the sign-in allows what the group of a person may do: change, or only read', async () => {
    const page = await (await newContext()).newPage()
    await signIn(page, 'anna')
    await verdict(page)
    expect(await page.getByText('May only read').count()).toBe(0)
    await page.evaluate("location.hash = '#/day'")
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /CSV/ }).click(),
    ])
    expect(await download.failure()).toBeNull()
    const reader = await (await newContext()).newPage()
    await signIn(reader, 'bert')
    await reader.getByText('May only read').first().waitFor()
  })

  it('the sign-in tells a person without a group so, in English and in German', async () => {
    const page = await (await newContext()).newPage()
    await signIn(page, 'carl')
    await page.getByText('You are in none of the groups that may use this page: ask whoever runs it.').waitFor()
    await expectAccessible(page)
    const german = await (await newContext('de-DE')).newPage()
    await german.goto(`${origin()}/#sign-in=no_group`)
    await german.getByText('Sie sind in keiner der Gruppen, die diese Seite benutzen dürfen').waitFor()
    await german.getByRole('button', { name: 'Anmelden' }).waitFor()
    expect(german.url()).not.toContain('sign-in')
  })

  it('the sign-out ends the sign-in, also at the provider and in the other tab', async () => {
    const context = await newContext()
    const [page, other] = [await context.newPage(), await context.newPage()]
    await signIn(page, 'anna')
    await verdict(page)
    await other.goto(`${origin()}/`)
    await verdict(other)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: /sign me out/i }).click()
    await page.waitForURL(`${origin()}/**`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await other.getByText('Your sign-in has ended: sign in again.').waitFor()
    // The provider asks for the user again.
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Person').waitFor()
  })

  it('the sign-in ends on an open page when the provider no longer renews it, and another tab renews it', async () => {
    provider.open(origin(), { tokenS: 10, renews: false })
    const context = await newContext()
    const [page, other] = [await context.newPage(), await context.newPage()]
    await signIn(page, 'anna')
    await verdict(page)
    await page.getByText('Your sign-in has ended: sign in again.').waitFor()
    provider.open(origin())
    // The provider still knows the user.
    await other.goto(`${origin()}/`)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await verdict(other)
    await verdict(page)
  })

  it('the sign-in ends on an open page when its group may no longer use it', async () => {
    const page = await (await newContext()).newPage()
    await signIn(page, 'anna')
    await verdict(page)
    const yaml = await fixture.product.read('gateway.yaml')
    onTestFinished(() => fixture.product.write('gateway.yaml', yaml))
    await fixture.product.write('gateway.yaml', yaml.replace('dispatch:', 'others:'))
    await page.getByText('Your sign-in has ended: sign in again.').waitFor()
  })

  it('the sign-in leaves no secret in the log, which names the person', async () => {
    const page = await (await newContext()).newPage()
    await signIn(page, 'anna')
    await verdict(page)
    await expect.poll(() => fixture.product.said()).toContain('anna@example.com')
    // The secret of the client, the tokens of the provider, and codes.
    expect(fixture.product.said()).not.toMatch(new RegExp(`${CLIENT.client_secret}|eyJ|code=|state=`))
  })

  it('the page says that the provider is down until it answers', async () => {
    onTestFinished(() => void (provider.isAway = false))
    provider.isAway = true
    const yaml = await fixture.product.read('gateway.yaml')
    onTestFinished(() => fixture.product.write('gateway.yaml', yaml))
    await fixture.product.write('gateway.yaml', yaml.replace(CLIENT.client_secret, 'another-secret'))
    const page = await (await newContext()).newPage()
    await page.goto(`${origin()}/`)
    await page.getByText('does not answer as a provider of OpenID Connect').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The sign-in service does not answer: try again in a minute.').waitFor()
    provider.isAway = false
    await page.getByText('does not answer as a provider of OpenID Connect').waitFor({ state: 'detached' })
  })
})
