import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'
import { followEvents } from '../support/events.ts'

const VAN = '356307042441013'
const SEVEN = 'canary-of-company-7'

describe.skipIf(!findChromium())('the page with a token for one company', () => {
  const fixture = pageFixture(
    {
      'devices.yaml': `"${VAN}": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }
zebra-1: { name: Zebra Van, company_id: 8, courier_id: 81, route_id: 8001 }
`,
    },
    `  - { transport: tcp, protocol: gt06, port: 0, host: 127.0.0.1, trial: { host: 127.0.0.1, port: 1 } }
companies: [{ company_id: 7, apikey: canary-7, oauth_token: canary-oauth-7 }, { company_id: 8, apikey: canary-8 }]
admin: { port: 0, tokens: [canary-of-all, { token: ${SEVEN}, name: seven, companies: [7] }] }
`,
  )
  /** Changes a van of each company, so that each view has data to show and data to hide. */
  async function change(): Promise<void> {
    const headers = { authorization: 'Bearer canary-of-all', 'content-type': 'text/csv' }
    for (const [company, line] of [
      [7, 'Van 12,42,1002'],
      [8, 'Zebra Van,81,8002'],
    ] as const) {
      const path = `/admin/routes?company_id=${company}&from=2099-11-20&until=2099-11-21`
      const body = `device,courier_id,route_id,from,until\n${line},2099-11-20 06:00,\n`
      const answer = await fetch(`http://127.0.0.1:${fixture.product.ports.admin}${path}`, {
        method: 'PUT',
        headers,
        body,
      })
      expect(answer.status).toBe(200)
    }
  }

  it.each([
    ['/', 'All well.', DESKTOP],
    ['/', 'All well.', PHONE],
    ['/vans', 'Van 12', DESKTOP],
    [`/vans/${VAN}`, 'Van 12', DESKTOP],
    ['/vans/zebra-1', 'no device with this id is configured', DESKTOP],
    ['/roster', 'Van 12', DESKTOP],
    ['/queues', 'Nothing waits', DESKTOP],
    ['/activity', 'Roster sent', DESKTOP],
    ['/arrivals', 'Not for this token', DESKTOP],
    ['/arrivals', 'Not for this token', PHONE],
  ] as const)(
    'the page with a company token shows in %s only data of the company: %s',
    async (view, text, viewport) => {
      await change()
      const { page, faults, close } = await fixture.open(view, { token: SEVEN, viewport })
      await page.locator('main').getByText(text).first().waitFor()
      await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
      expect((await page.locator('body').textContent())?.replaceAll('zebra-1', '')).not.toMatch(/zebra/i)
      await expectAccessible(page)
      expect(faults).toEqual([])
      await close()
    },
  )

  it('the page with a company token has the view of a trial while one runs', async () => {
    const { page, faults, close } = await fixture.open('/', { token: SEVEN })
    await page.getByRole('link', { name: 'Trial' }).click()
    await page.locator('main').getByText('No tracker has come yet').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page with a company token adds a van by its id', async () => {
    const { page, faults, close } = await fixture.open('/arrivals', { token: SEVEN })
    await page.getByLabel('Id of the tracker').fill('356307042441099')
    await page.locator('main button[type=submit]').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Van 99')
    await expect.poll(() => dialog.getByLabel('Company').inputValue()).toBe('7')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Van 99' }).waitFor()
    expect(page.url()).toContain('/vans/356307042441099')
    expect(faults).toEqual([])
    await close()
  })

  it('the page with a company token gives its van another route', async () => {
    const { page, faults, close } = await fixture.open(`/vans/${VAN}`, { token: SEVEN })
    await page.getByRole('button', { name: /Assign a route|Change route/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Route', { exact: true }).fill('1003')
    await dialog.getByRole('button', { name: 'Show what it does' }).click()
    await dialog.getByRole('status').waitFor()
    await dialog.locator('button[type=submit]').click()
    await expect.poll(() => page.locator('main').textContent()).toContain('1003')
    expect(faults).toEqual([])
    await close()
  })

  it('the page with a company token shows nothing of the previous token, even if its own vans come late', async () => {
    const { page, faults, close } = await fixture.open('/vans', { token: 'canary-of-all' })
    await page.locator('main').getByText('Zebra Van').first().waitFor()
    const released = Promise.withResolvers<void>()
    await page.route('**/admin/devices?*', (route) => released.promise.then(() => route.continue()))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').fill(SEVEN)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
    expect(await page.locator('body').textContent()).not.toMatch(/zebra/i)
    released.resolve()
    await page.locator('main').getByText('Van 12').first().waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/zebra/i)
    expect(faults).toEqual([])
    await close()
  })

  it('the page shows only what a company token may see once its URL is pasted into a tab with another token', async () => {
    const { page, faults, close } = await fixture.open('/vans', { token: 'canary-of-all' })
    await page.locator('main').getByText('Zebra Van').first().waitFor()
    await page.evaluate(`location.hash = '#token=${SEVEN}&view=/vans'`)
    await page.locator('main').getByText('Zebra Van').first().waitFor({ state: 'detached', timeout: 5000 })
    await page.locator('main').getByText('Van 12').first().waitFor()
    await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
    expect(faults).toEqual([])
    await close()
  })

  it('the page with a company token removes a deleted van, even if other vans change all the time', async () => {
    const ask = async (id: string, entry?: object) => {
      const headers = { authorization: 'Bearer canary-of-all', 'content-type': 'application/json' }
      const path = `http://127.0.0.1:${fixture.product.ports.admin}/admin/devices/${id}`
      const { status } = await fetch(path, { method: entry ? 'PUT' : 'DELETE', headers, body: JSON.stringify(entry) })
      expect(status).toBe(200)
    }
    await ask('van-9', { company_id: 7, name: 'Van 9' })
    const { page, close } = await fixture.open('/vans', { token: SEVEN })
    await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
    await page.locator('main').getByText('Van 9', { exact: true }).first().waitFor()
    await ask('van-9')
    let times = 0
    const shown = async () => {
      await ask('van-8', { company_id: 7, name: `Van 8, ${++times}` })
      return page.locator('main').getByText('Van 9', { exact: true }).count()
    }
    await expect.poll(shown, { timeout: 60_000, interval: 1000 }).toBe(0)
    await ask('van-8')
    await close()
  })

  it('the page with a company token shows a change that comes while its list of vans is loading', async () => {
    const { page, close } = await fixture.open('/vans', { token: null })
    const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/admin/devices?*', async (route) => {
      const response = await route.fetch()
      read.resolve()
      await released.promise
      await route.fulfill({ response })
    })
    await page.getByLabel('Token').fill(SEVEN)
    await page.getByRole('button', { name: 'Open' }).click()
    await Promise.all([read.promise, page.locator('.freshness.is-live').waitFor({ state: 'attached' })])
    const headers = { authorization: `Bearer ${SEVEN}`, 'content-type': 'application/json' }
    const entry = { company_id: 7, name: 'Van 12, renamed', courier_id: 42, route_id: 1001 }
    const url = `http://127.0.0.1:${fixture.product.ports.admin}/admin`
    const stream = await followEvents(`${url}/events?topics=device`, headers)
    const path = `${url}/devices/${VAN}`
    await fetch(path, { method: 'PUT', headers, body: JSON.stringify(entry) })
    await expect.poll(() => stream.text(), { timeout: 10_000 }).toContain(entry.name)
    stream.close()
    // The page has the same event by now, or in a moment.
    await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
    released.resolve()
    await page.locator('main').getByText('Van 12, renamed').first().waitFor({ timeout: 4000 })
    await fetch(path, { method: 'PUT', headers, body: JSON.stringify({ ...entry, name: 'Van 12' }) })
    await close()
  })
})
