import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

describe.skipIf(!findChromium())('the page in a real browser', () => {
  const fixture = pageFixture({
    'devices.yaml': '"356307042441013": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n',
  })

  it('the page takes the token from the URL, keeps it in the tab, and removes it from the URL', async () => {
    const { page, faults, close } = await fixture.open('/')
    await page.locator('.verdict h1').waitFor()
    expect(page.url()).not.toContain(fixture.token)
    await page.reload()
    await page.locator('.verdict h1').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page asks for another token if it is wrong, and opens with the right one', async () => {
    const { page, faults, close } = await fixture.open('/', { token: 'wrong' })
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('the token is unknown')
    await page.getByLabel('Token').fill(fixture.token)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.verdict h1').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page stays open with a token even if the refusal of the previous token comes late', async () => {
    const { page, close } = await fixture.open('/', { token: null })
    const released = Promise.withResolvers<void>()
    await page.route('**/admin/token', async (route) => {
      if (route.request().headers().authorization === 'Bearer wrong') await released.promise
      await route.continue()
    })
    const [field, open] = [page.getByLabel('Token'), page.getByRole('button', { name: 'Open' })]
    await field.fill('wrong')
    await open.click()
    await page.getByRole('alert').waitFor()
    await field.fill(fixture.token)
    await open.click()
    await page.locator('.verdict h1').waitFor()
    const refusal = page.waitForResponse((response) => response.status() === 401)
    released.resolve()
    await (await refusal).finished()
    await page.reload()
    await page.locator('.verdict h1').waitFor()
    await close()
  })

  it('the page asks for a token if it has none', async () => {
    const { page, close } = await fixture.open('/', { token: null })
    await page.getByText('This page needs a token.').waitFor()
    await expectAccessible(page)
    await close()
  })

  it('the page is German in a German browser', async () => {
    const { page, close } = await fixture.open('/', { locale: 'de-AT' })
    await page.getByRole('heading', { name: 'Der Weg einer Position' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await close()
  })

  it('the page says in German what is wrong, what to do, and where a van is', async () => {
    await fixture.product.admin('/admin/enrolment?for=10m', { method: 'POST' })
    const { page, close } = await fixture.open('/', { locale: 'de-DE' })
    const finding = page.locator('.finding')
    await finding.getByText('Die Anmeldung ist offen: nicht eingerichtete Geräte werden zugelassen.').waitFor()
    await finding.getByText('Nichts zu tun: sie schließt von selbst.').waitFor()
    await page.evaluate("location.hash = '#/vans/356307042441013'")
    await page.getByText('Von seinem Tracker wurde noch nichts angenommen').first().waitFor()
    await page.getByText('Einzelheiten für die IT').first().click()
    await page.getByText('Van 12 wurde nie gehört, auf Tour 1001 (Fahrer 42); nie gehört, Tour 1001 durch').waitFor()
    await close()
  })

  it.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', PHONE],
    ['dark', PHONE],
  ] as const)('axe finds no serious problem in Now, %s, %o', async (colorScheme, viewport) => {
    const { page, faults, close } = await fixture.open('/', { colorScheme, viewport })
    await page.locator('.verdict h1').waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })

  it('browsers cache the page only under a URL with its version', async () => {
    const headers = { 'accept-encoding': 'br' }
    const ask = (path: string) => fetch(`http://127.0.0.1:${fixture.product.ports.admin}${path}`, { headers })
    const index = await ask('/')
    const [asset] = /\/assets\/[^"]+main\.js/.exec(await index.text())!
    const file = await ask(asset)
    expect(index.headers.get('cache-control')).toBe('no-cache')
    expect(index.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect(file.headers.get('content-encoding')).toBe('br')
    expect((await ask('/assets/old/main.js')).status).toBe(404)
  })
})
