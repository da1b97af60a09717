import { afterAll, describe, expect, it } from 'vitest'
import { ok, startApi, status } from '../rig/api.ts'
import { expectAccessible, findChromium, LOOKS, pageFixture } from '../support/browser.ts'

const VAN = '356307042441013'
const HEADER = 'device,courier_id,route_id,from,until\n'
const LINE = 'Van 12,42,1002,2099-11-20 06:00,2099-11-20 20:00\n'
const PUT = '/admin/routes?company_id=7&from=2099-11-20&until=2099-11-21&force=true'
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

describe.skipIf(!findChromium())('the activity in a real browser', async () => {
  const api = await startApi()
  afterAll(() => api.close())
  const fixture = pageFixture(
    { 'devices.yaml': `"${VAN}": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n` },
    `tracking: { base_url: "${api.url}", listen: { host: 127.0.0.1, port: 0 } }\n`,
  )

  async function send(method: string, path: string, body?: string): Promise<number> {
    const headers = { authorization: `Bearer ${fixture.token}`, 'content-type': 'text/csv' }
    const answer = await fetch(`http://127.0.0.1:${fixture.product.ports.admin}${path}`, { method, headers, body })
    return answer.status
  }

  it('the activity says what to do while nothing has happened, then shows a change at once', async () => {
    const { page, faults, close } = await fixture.open('/activity?kind=change')
    await page.locator('.empty').waitFor()
    expect(await send('PUT', PUT, HEADER + LINE)).toBe(200)
    await expect.poll(() => page.locator('.activity-item').first().textContent()).toContain('Roster sent')
    expect(await page.locator('.activity-item').first().textContent()).toContain('by admin-token')
    expect(await page.locator('.activity-item').first().textContent()).toContain('added 1')
    expect(faults).toEqual([])
    await close()
  })

  it('the activity shows rejected lines of a roster, and refused requests', async () => {
    expect(await send('PUT', PUT, `${HEADER}${LINE}Van 99,42,1002,2099-11-20 06:00,2099-11-20 20:00\n`)).toBe(200)
    expect(await send('DELETE', '/admin/devices/none')).toBe(404)
    const { page, faults, close } = await fixture.open('/activity')
    await expect.poll(() => page.locator('.activity').textContent()).toContain('refused, 404')
    await expect.poll(() => page.locator('.activity .remarks').first().textContent()).toContain('Line 3')
    await page.getByRole('button', { name: 'Rosters' }).click()
    await expect.poll(() => page.locator('.activity').textContent()).not.toContain('refused, 404')
    expect(page.url()).toContain('kind=roster')
    expect(faults).toEqual([])
    await close()
  })

  it('the activity finds a change by the name of a token or a van, and links to the van', async () => {
    const headers = { authorization: `Bearer ${fixture.token}`, 'content-type': 'application/json' }
    const entry = JSON.stringify({ name: 'Van 12', company_id: '7', courier_id: '42', route_id: '1001' })
    const url = `http://127.0.0.1:${fixture.product.ports.admin}/admin/devices/${VAN}`
    expect((await fetch(url, { method: 'PUT', headers, body: entry })).status).toBe(200)
    const { page, close } = await fixture.open('/activity')
    await page.getByRole('searchbox').fill('entry saved')
    await expect.poll(() => page.locator('.activity-item').count()).toBe(1)
    await page.getByRole('link', { name: 'Van 12' }).click()
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    await close()
  })

  it('the activity shows earlier changes on demand', async () => {
    for (let times = 0; times < 105; times++) await send('DELETE', `/admin/devices/none-${times}`)
    const { page, close } = await fixture.open('/activity?kind=change')
    await expect.poll(() => page.locator('.activity-item').count()).toBe(100)
    await page.getByRole('button', { name: 'Earlier changes' }).click()
    await expect.poll(() => page.locator('.activity-item').count()).toBeGreaterThan(104)
    await close()
  })

  it('the activity shows a fault that has ended, with its duration', async () => {
    api.respond(status(503))
    const fix = `id=${VAN}&lat=52.5&lon=13.4&timestamp=${Math.floor(Date.now() / 1000)}`
    await fetch(`http://127.0.0.1:${fixture.product.ports['http/osmand']}/?${fix}`)
    const codes = async () =>
      (await fixture.product.admin<{ findings: { code: string }[] }>('/admin/status')).findings.map(({ code }) => code)
    await expect.poll(codes).toContain('upstream_down')
    const { page, close } = await fixture.open('/activity?kind=ended')
    await page.locator('.activity h1').waitFor()
    api.respond(ok)
    await expect
      .poll(() => page.locator('.activity').textContent())
      .toMatch(/The tracking service answers with the error 503.*over.*lasted \d+ (s|min)/)
    await page.getByRole('link', { name: 'Details for IT' }).click()
    await page.getByRole('heading', { name: 'upstream_down' }).waitFor()
    await close()
  })

  it('the activity explains a finding by its code, which alerts link to, and lists where it applies', async () => {
    const { page, faults, close } = await fixture.open('/findings/upstream_down')
    await page.getByRole('heading', { name: 'upstream_down' }).waitFor()
    await expect.poll(() => page.locator('.paragraph').first().textContent()).toContain('tracking API')
    // Other findings may be present, so that the page does not say that all is well.
    await page.getByText('Nowhere at this moment.').waitFor()
    await expectAccessible(page)
    await page.evaluate("location.hash = '#/findings/no_such_code'")
    await page.getByText('There is no such finding').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it.each(LOOKS)('axe finds no serious problem in the activity, %s, %o, %s', async (colorScheme, viewport, locale) => {
    const { page, faults, close } = await fixture.open('/activity', { colorScheme, viewport, locale })
    await page.locator('.activity-item').first().waitFor()
    await expectAccessible(page)
    expect(await page.evaluate(OVERHANG)).toBe(0)
    expect(faults).toEqual([])
    await close()
  })
})
