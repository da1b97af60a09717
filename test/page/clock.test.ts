import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findChromium, PHONE, pageFixture } from '../support/browser.ts'

const DAY = '2099-11-20'
const DEVICES = JSON.stringify({
  '356307042441013': { name: 'Van 12', company_id: 7, courier_id: 42 },
  '356307042441021': { name: 'Van 14', company_id: 7, courier_id: 43 },
})
const ROUTES = `device,courier_id,route_id,from,until\nVan 12,,1001,${DAY} 18:00,${DAY} 20:00\n`

const barOf = (page: Page) => page.getByRole('button', { name: /^Van 12: 1001/ })

/** The browser runs in UTC, 5 h 30 min behind the roster. */
describe.skipIf(!findChromium())('the clock of the page', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES, 'routes.csv': ROUTES }, 'time_zone: Asia/Kolkata\n')

  async function openDay(options = {}) {
    const opened = await fixture.open(`/roster?day=${DAY}`, options)
    await opened.page.evaluate("localStorage.removeItem('waybridge.clock')")
    await opened.page.reload()
    await opened.page.locator('.stay').first().waitFor()
    return opened
  }

  it('the page uses the time zone of the roster, also in dialogs and in texts of the admin port', async () => {
    const { page, faults, close } = await openDay()
    expect(await page.locator('.rail .clock').textContent()).toContain('Times of Asia/Kolkata')
    expect(await barOf(page).textContent()).toContain('18:00–20:00')
    await page.evaluate("location.hash = '#/vans/356307042441021'")
    await page.getByRole('button', { name: 'Assign a route' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Take over from' }).click()
    await dialog.getByLabel('Van whose routes it takes over').fill('Van 12')
    await dialog.locator('input[type=datetime-local]').fill(`${DAY}T18:30`)
    await dialog.getByRole('button', { name: 'Show what it does' }).click()
    const plan = dialog.locator('.plan')
    await expect
      .poll(() => plan.textContent())
      .toContain(`from ${DAY} 18:30 to 20:00; Van 12 loses it then (Asia/Kolkata)`)
    expect(await plan.locator('li').textContent()).toContain('20 Nov, 18:30 to 20 Nov, 20:00')
    expect(faults).toEqual([])
    await close()
  })

  it('the page uses the time zone of the browser on request, everywhere and after a reload', async () => {
    const { page, faults, close } = await openDay()
    await page.getByRole('button', { name: 'Show times of UTC' }).click()
    await expect.poll(() => barOf(page).textContent()).toContain('12:30–14:30')
    expect(await page.locator('.roster-filter').textContent()).toContain('Days of Asia/Kolkata')
    expect(await page.locator('.timeline-hours').textContent()).toContain('18:30')
    await page.reload()
    await expect.poll(() => barOf(page).textContent()).toContain('12:30–14:30')
    await page.evaluate("location.hash = '#/vans/356307042441021'")
    await page.getByRole('button', { name: 'Assign a route' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Route', { exact: true }).fill('1001')
    await dialog.getByLabel('From').fill(`${DAY}T12:30`)
    await dialog.getByLabel('Until').fill(`${DAY}T14:30`)
    await dialog.getByRole('button', { name: 'Show what it does' }).click()
    await expect.poll(() => dialog.locator('.plan').textContent()).toContain(`from ${DAY} 12:30 to 14:30 (UTC)`)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Show times of Asia/Kolkata' }).click()
    await expect.poll(() => page.locator('.rail .clock').textContent()).toContain('Times of Asia/Kolkata')
    expect(faults).toEqual([])
    await close()
  })

  it('the page converts times in texts of the admin port, and no other numbers', async () => {
    const { page, close } = await openDay()
    const asset = await page.locator('script[type=module]').getAttribute('src')
    const shown = (text: string) =>
      page.evaluate(
        `import('${asset!.replace('main.js', 'format.js')}').then(({ withTimes }) => withTimes(${JSON.stringify(text)}, Date.parse('2026-11-22T10:00:00Z')))`,
      )
    expect(await shown('last at 2026-11-22T07:41:00.123Z')).toBe('last at 13:11:00')
    expect(await shown('since 22:00:00Z, 21:00:05+05:30')).toBe('since Mon 23 Nov, 03:30:00, 21:00:05')
    expect(await shown('ended 2026-11-21 23:59:59+05:30')).toBe('ended Sat 21 Nov, 23:59:59')
    for (const text of ['set time_zone "+03:00"', 'ratio 12:30:45', '356307042441013', '1:2026-11-22T07:41'])
      expect(await shown(text)).toBe(text)
    await close()
  })

  it('the page names its time zone below the view on a phone', async () => {
    const { page, close } = await openDay({ viewport: PHONE })
    expect(await page.locator('.view > .clock').isVisible()).toBe(true)
    expect(await page.locator('.rail > .clock').isVisible()).toBe(false)
    await close()
  })
})
