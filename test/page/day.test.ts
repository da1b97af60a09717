import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const TOKEN = 'canary-of-all'
const SEVEN = 'canary-of-company-7'
const [VAN, SPARE, ZEBRA] = ['013', '021', '039'].map((end) => `356307042441${end}`)
const DEVICES = JSON.stringify({
  [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42 },
  [SPARE]: { name: 'Van 20', company_id: 7, courier_id: 50 },
  [ZEBRA]: { name: 'Zebra Van', company_id: 8, courier_id: 81 },
})
const YAML = `
time_zone: UTC
companies: [{ company_id: 7, name: Seven Ltd, apikey: canary-7, oauth_token: canary-oauth }, { company_id: 8, apikey: canary-8 }]
admin: { port: 0, tokens: [${TOKEN}, { token: ${SEVEN}, name: seven, companies: [7] }] }
`
const DAY_MS = 86_400_000
const line = (van: string, route: number, day: string) => `${van},,${route},${day} 00:00,${day} 24:00`
const dayOf = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
/** Pixels by which the page, or its view, is wider than its place. */
const OVERHANG =
  "Math.max(...[document.documentElement, document.querySelector('main')].map((e) => e.scrollWidth - e.clientWidth))"

describe.skipIf(!findChromium())('the view Day in a real browser', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES }, YAML)

  // The test does not run over midnight, when today becomes yesterday.
  beforeEach(() => expect.poll(() => new Date().toISOString()).not.toMatch(/T(23:5[89]|00:0[0-4])/))

  const open = (view: string, options = {}) => fixture.open(view, { token: TOKEN, ...options })

  async function put(company: number, day: string, lines: readonly string[]): Promise<void> {
    const until = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)
    const query = `company_id=${company}&from=${day}&until=${until}&force=true`
    const answer = await fetch(`http://127.0.0.1:${fixture.product.ports.admin}/admin/routes?${query}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' },
      body: ['device,courier_id,route_id,from,until', ...lines].join('\n'),
    })
    expect([answer.status, await answer.json()]).toMatchObject([200, { rejected: [] }])
  }

  /** Sends fixes of a van, one for each of the last minutes. */
  async function drive(id: string, minutes: number): Promise<void> {
    const now = Date.now()
    const connection = await dial(fixture.product.ports['tcp/teltonika'])
    const fixes = Array.from({ length: minutes }, (_, n) => {
      const where = { latitude: 52.5 + n / 1000, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
      return { time: now - (minutes - 1 - n) * 60_000 - 1000, ...where }
    })
    connection.socket.write(
      Buffer.concat([teltonika.login!(id).bytes, teltonika.packet(fixes, { id, serial: 1 }).bytes]),
    )
    await vi.waitFor(() => expect(connection.answered().length).toBe(5), 60_000)
    connection.socket.destroy()
  }

  beforeAll(async () => {
    await put(7, dayOf(0), [line('Van 12', 1001, dayOf(0)), line('Van 20', 1002, dayOf(0))])
    await put(8, dayOf(0), [line('Zebra Van', 8001, dayOf(0))])
    await put(7, dayOf(-1), [line('Van 12', 2001, dayOf(-1))])
    await drive(VAN, 4)
  })

  it('the view Day lists the routes of a day by share, worst first, and links a gap to the day of its van', async () => {
    const { page, faults, close } = await open('/day?company=7')
    const rows = page.locator('.day-sheet')
    // Delivered minutes are written some seconds later.
    await expect
      .poll(async () => {
        await page.reload()
        await rows.first().waitFor()
        return (await rows.last().locator('th').textContent()) ?? ''
      })
      .toContain('1001')
    expect(await rows.count()).toBe(2)
    expect(await rows.first().textContent()).toMatch(/^1002courier 50.*0%.*Van 20$/s)
    expect(await rows.last().locator('.g-fix').count()).toBeGreaterThan(0)
    await expectAccessible(page)

    await rows.first().locator('rect.is-choice').first().click()
    const gap = rows.first().locator('.day-gap-list li.is-marked')
    expect(await gap.textContent()).toContain(
      'Nothing was noted of this time: perhaps nothing ran here that could hear it.',
    )
    await expectAccessible(page)
    await gap.getByRole('link', { name: 'Van 20' }).click()
    await page.getByRole('heading', { name: 'Van 20' }).waitFor()
    expect(page.url()).toContain(`/vans/${SPARE}?day=${dayOf(0)}`)
    expect(faults).toEqual([])
    await close()
  })

  it('the view Day opens from the palette, and works with the keyboard only', async () => {
    const { page, faults, close } = await open('/')
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    const tabs = await page.getByRole('navigation', { name: 'Views' }).locator('.nav-text').allTextContents()
    expect(tabs).toEqual(['Now', 'Vans', 'Day', 'Roster', 'Arrivals', 'Queues', 'Activity'])
    await page.keyboard.press('/')
    await page.keyboard.type('day')
    await page.keyboard.press('Enter')
    await page.locator('.day-sheet', { hasText: '8001' }).waitFor()
    const button = page.locator('.day-sheet', { hasText: '1002' }).getByRole('button')
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Gaps of route 1002' }).waitFor()
    expect(await button.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.day-gap-list').count()).toBe(0)
    await page.getByRole('button', { name: 'The day before' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.day-sheet', { hasText: '2001' }).waitFor()
    expect(page.url()).toContain(`day=${dayOf(-1)}`)
    await page.getByRole('combobox', { name: 'Company' }).selectOption('8')
    await page.getByText('No routes of company 8 planned on that day').waitFor()
    expect(page.url()).toContain('company=8')
    expect(faults).toEqual([])
    await close()
  })

  it('the view Day offers the last 31 days, and says that no routes are planned, or why there is no such day', async () => {
    const { page, close } = await open(`/day?day=${dayOf(-31)}`)
    await page.getByText('No routes planned on that day').waitFor()
    await expectAccessible(page)
    expect(await page.getByRole('button', { name: 'The day before' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'The next day' }).isDisabled()).toBe(false)
    await page.getByRole('button', { name: 'Today' }).click()
    await page.locator('.day-sheet', { hasText: '1001' }).waitFor()
    expect(await page.getByRole('button', { name: 'The next day' }).isDisabled()).toBe(true)
    await page.evaluate(`location.hash = '/day?day=${dayOf(-40)}'`)
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('more than 31 days ago')
    await close()
  })

  it('the view Day ignores the answer for a day that is no longer chosen', async () => {
    const { page, close } = await open('/')
    let isAnswered = false
    await page.route(`**/admin/days?*day=${dayOf(-1)}*`, async (route) => {
      await pause(1500)
      await route.continue()
      isAnswered = true
    })
    await page.evaluate(`location.hash = '/day?day=${dayOf(-1)}'`)
    await page.getByRole('heading', { name: 'Day' }).waitFor()
    await page.evaluate("location.hash = '/day'")
    await page.locator('.day-sheet', { hasText: '1001' }).waitFor()
    await expect.poll(() => isAnswered).toBe(true)
    await pause(500)
    expect(await page.locator('.day-sheet', { hasText: '2001' }).count()).toBe(0)
    expect(await page.getByLabel('Day', { exact: true }).last().inputValue()).toBe(dayOf(0))
    await close()
  })

  it('the view Day keeps its content while the admin port does not answer, and says how old it is', async () => {
    const { page, close } = await open(`/day?day=${dayOf(-1)}`)
    const row = page.locator('.day-sheet', { hasText: '2001' })
    await row.waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.route('**/admin/days?*', (route) => route.abort())
    await row.getByRole('button').click()
    // A change of the roster reloads the view, and keeps an open list open.
    await put(8, '2099-11-20', [line('Zebra Van', 8001, '2099-11-20')])
    await expect.poll(() => page.locator('.day-stale').textContent()).toMatch(/^As of \d\d:\d\d.*does not answer/)
    expect(await row.locator('.day-gap-list').count()).toBe(1)
    await page.unroute('**/admin/days?*')
    await put(8, '2099-11-20', [line('Zebra Van', 8002, '2099-11-20')])
    await expect.poll(() => page.locator('.day-stale').count()).toBe(0)
    await close()
  })

  it('the view Day saves the same content as CSV, and prints a plain table on A4', async () => {
    const { page, faults, close } = await open('/day?company=7')
    await page.locator('.day-sheet').first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`day-${dayOf(0)}-7.csv`)
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain('route_id')
    expect(text.trim().split(/\r?\n/)).toHaveLength(3)

    await page.evaluate('window.print = () => { window.printed = document.querySelectorAll(".day-sheet").length }')
    await page.getByRole('button', { name: 'Print' }).click()
    await expect.poll(() => page.evaluate('window.printed')).toBe(2)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.rail').isVisible()).toBe(false)
    expect(await page.getByRole('button', { name: 'CSV' }).isVisible()).toBe(false)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^Day: .*Seven Ltd$/)
    expect(await page.locator('.day-sheet').first().textContent()).toContain('Not known')
    // A4 in landscape is 842 × 595 points.
    const pdf = await page.pdf({ preferCSSPageSize: true })
    expect(pdf.toString('latin1')).toMatch(/MediaBox \[0 0 84[12]\S* 59[456]/)
    await page.emulateMedia({ media: 'screen' })
    expect(faults).toEqual([])
    await close()
  })

  it('the view Day shows a company token only its routes, without a choice of companies', async () => {
    const { page, faults, close } = await open('/day', { token: SEVEN })
    await page.locator('.day-sheet', { hasText: '1001' }).waitFor()
    expect(await page.locator('.day-view').textContent()).not.toContain('8001')
    expect(await page.getByRole('combobox').count()).toBe(0)
    expect(faults).toEqual([])
    await close()
  })

  it.each([
    [DESKTOP, 'light', 'en-GB'],
    [DESKTOP, 'dark', 'de-DE'],
    [PHONE, 'light', 'de-DE'],
    [PHONE, 'dark', 'en-GB'],
  ] as const)(
    'the view Day fits the window %j in %s and %s, with corrected and verified positions',
    async (viewport, colorScheme, locale) => {
      const { page, faults, close } = await open('/', { viewport, colorScheme, locale })
      await page.route('**/admin/days?*', (route) => route.fulfill({ json: manySheets(7) }))
      await page.evaluate("location.hash = '/day'")
      await page.locator('.day-sheet').first().locator('.day-gaps-button').click()
      expect(await page.evaluate(OVERHANG)).toBeLessThanOrEqual(0)
      await expectAccessible(page)
      const text = await page.locator('.day-view').textContent()
      const isGerman = locale === 'de-DE'
      expect(text).toContain(
        isGerman ? 'nach einer Korrektur hierher nachgeliefert' : 'delivered here later, by a correction',
      )
      expect(text).toContain(isGerman ? 'zurückgelesenen Positionen fehlen' : 'that were read back are missing')
      // A day with one missing minute is not shown as complete.
      expect(await page.locator('.day-share', { hasText: /^100/ }).count()).toBe(1)
      expect(faults).toEqual([])
      await close()
    },
  )

  it('the view Day shows the worst of five thousand routes at once, more on demand, and prints all', async () => {
    const { page, faults, close } = await open('/')
    let routes = 5000
    await page.route('**/admin/days?*', (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('page_token') ?? 0)
      const next = from + 1000 < routes ? { next_page_token: String(from + 1000) } : {}
      return route.fulfill({ json: { ...manySheets(Math.min(1000, routes), from), ...next } })
    })
    await page.evaluate("location.hash = '/day'")
    await page.getByText('5,000 routes', { exact: true }).waitFor()
    const rows = page.locator('.day-sheet')
    expect(await rows.count()).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(200)
    routes = 250
    await page.evaluate(`location.hash = '/day?day=${dayOf(-1)}'`)
    await page.getByText('250 routes', { exact: true }).waitFor()
    expect(await rows.count()).toBe(100)
    await page.evaluate('window.print = () => { window.printed = document.querySelectorAll(".day-sheet").length }')
    await page.getByRole('button', { name: 'Print' }).click()
    await expect.poll(() => page.evaluate('window.printed')).toBe(250)
    await expect.poll(() => rows.count()).toBe(100)
    expect(faults).toEqual([])
    await close()
  })
})

/** Returns sheets of many routes, worst first; the last one is complete, the one before lacks a minute. */
function manySheets(count: number, first = 0) {
  const midnight = Date.parse(dayOf(-1))
  const at = (minute: number) => new Date(midnight + minute * 60_000).toISOString()
  const reasons = ['not_connected', 'no_fix', 'parked', 'held', 'refused', 'waiting', 'not_started'] as const
  const results = Array.from({ length: count }, (_, n) => {
    const min = n === count - 1 ? 0 : n === count - 2 ? 1 : 90 - Math.min(80, n * 5)
    const reason = reasons[n % reasons.length]
    const gaps = [{ from_at: at(600), until_at: at(600 + min), min, reason, message: 'said by the port', device: VAN }]
    return {
      company_id: '7',
      courier_id: '42',
      route_id: String(1001 + first + n),
      day: dayOf(-1),
      devices: n % 3 === 0 ? [VAN, SPARE] : [VAN],
      planned: [
        { from_at: at(360), until_at: at(720) },
        { from_at: at(780), until_at: at(1419) },
      ],
      planned_min: 999,
      covered_min: 999 - min,
      share: Math.floor(((999 - min) / 999) * 10_000) / 10_000,
      first_fix_at: at(365),
      start_delay_min: n % 2 === 0 ? 5 : null,
      last_fix_at: at(1410),
      fixes: 1400,
      late_fixes: n === 1 ? 12 : 0,
      delay_p50_s: 1.2,
      delay_p95_s: 4.5,
      longest_gap_min: min,
      gaps: min === 0 ? [] : gaps,
      by_reason: min === 0 ? {} : { [reason]: min },
      ...(n < 2 && { verified: { checked: 1400, missing: n === 0 ? 3 : 0 } }),
      redelivered: n === 0 ? 412 : 0,
    }
  })
  const bounds = { day: dayOf(-1), from_at: at(0), until_at: at(1440), as_of_at: at(1440), time_zone: 'UTC' }
  return { results, ...bounds }
}
