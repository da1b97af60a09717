import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

describe.skipIf(!findChromium())('copies in a real browser', () => {
  const fixture = pageFixture(
    { 'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1001 }\n' },
    'copies: [{ name: crm, to: "http://127.0.0.1:9/secret-path" }]\n',
  )

  it.each([DESKTOP, PHONE])('the page shows each copy with its waiting positions on %o', async (viewport) => {
    const { page, faults, close } = await fixture.open('/', { viewport })
    const url = `http://127.0.0.1:${fixture.product.ports['http/osmand']}/?id=1&lat=52.5&lon=13.4`
    expect((await fetch(`${url}&timestamp=${Math.floor(Date.now() / 1000)}`)).status).toBe(200)
    const panel = page.getByRole('region', { name: 'Copies for other systems' })
    await panel.getByText('crm').waitFor()
    await panel.getByText(/Waiting/).waitFor()
    expect(await page.content()).not.toContain('secret-path')
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })
})
