import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const ID = '356307042441013'
const DEVICES = `"${ID}": { name: Van 13, company_id: 7, courier_id: 42, route_id: 1001 }\n`
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

const dialog = (page: Page) => page.getByRole('dialog')

describe.skipIf(!findChromium())('JSON that was not understood', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES })

  const send = async (second: number) => {
    const time = Math.floor(Date.now() / 1000) - 60 + second
    const body = JSON.stringify({ tracker: ID, state: { at: time, latitude: 52.5, longitude: 13.4, speedKmh: 36 } })
    return (await fetch(`http://127.0.0.1:${fixture.product.ports['http/osmand']}/`, { method: 'POST', body })).status
  }

  it('the page proposes, tries, saves and deletes a mapping for JSON that was not understood', async () => {
    expect(await send(0)).toBe(400)
    const { page, faults, close } = await fixture.open('/arrivals', { viewport: DESKTOP })
    const panel = page.getByRole('region', { name: 'JSON that nobody understands' })
    await panel.getByText('This looks like a position').waitFor()
    await panel.getByText('lat: $.state.latitude').waitFor()
    expect(await send(1)).toBe(400)
    await panel.getByRole('button', { name: 'Say where its position is' }).click()
    await dialog(page)
      .getByText(/of \d+ kept messages have a position/)
      .waitFor()
    await dialog(page).getByText('52.50000, 13.40000').first().waitFor()
    await expectAccessible(page)
    await dialog(page).getByLabel('Latitude').fill('$.nowhere')
    await dialog(page).getByRole('button', { name: 'Try it' }).click()
    await dialog(page)
      .getByText(/^0 of \d+ kept messages/)
      .waitFor()
    await dialog(page).getByLabel('Latitude').fill('$..')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByRole('alert').getByText('expected a path to one value').waitFor()
    await dialog(page).getByLabel('Latitude').fill('$.state.latitude')
    await dialog(page).getByLabel('Name of the mapping').fill('van-json')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('map:van-json').waitFor()
    let second = 2
    await expect.poll(() => send(second++)).toBe(200)
    await expect.poll(() => panel.count()).toBe(0)
    await page.getByRole('button', { name: 'Delete the mapping van-json' }).click()
    await expect.poll(() => page.getByText('map:van-json').count()).toBe(0)
    await expect.poll(() => send(second++)).toBe(400)
    expect(faults).toEqual([])
    await close()
  })

  it('the page of a mapping fits a phone', async () => {
    await send(0)
    const { page, faults, close } = await fixture.open('/arrivals', { viewport: PHONE })
    await page.getByRole('button', { name: 'Say where its position is' }).first().click()
    await dialog(page)
      .getByText(/kept messages have a position/)
      .waitFor()
    expect(await page.evaluate(OVERHANG)).toBeLessThanOrEqual(0)
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })
})
