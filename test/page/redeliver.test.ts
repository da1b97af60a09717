import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const READER = 'reader-token-5b1d0e'
const OPERATOR = 'operator-token-77aa31'
const idOf = (van: number) => `35630704244${String(1000 + van)}`
const DEVICES = JSON.stringify(
  Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((van) => [
      idOf(van),
      { name: `Van ${van}`, company_id: 7, courier_id: 40 + van, route_id: 1000 + van },
    ]),
  ),
)
const HEADER = 'device,courier_id,route_id,from,until\n'
const YAML = `
time_zone: UTC
admin:
  port: 0
  tokens: [{ name: dispatch, token: ${OPERATOR}, role: operate }, { name: reader, token: ${READER}, role: read }]
`
/** Returns a local time this many minutes ago, in the format of an input field. */
const local = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 16)

describe.skipIf(!findChromium())('positions that went to another route', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES, 'routes.csv': HEADER }, YAML)

  // The test does not run over midnight, because the roster of the next day has none of its minutes.
  beforeEach(() => expect.poll(() => new Date().toISOString(), { timeout: 1_200_000 }).not.toMatch(/T(23:5|00:[01])/))

  const open = (view: string, options = {}) => fixture.open(view, { token: OPERATOR, ...options })

  /** Sends fixes of a van, one for each minute until now; resolves when they are delivered. */
  async function drive(van: number, minutes: number, route = 1000 + van): Promise<void> {
    const id = idOf(van)
    const now = Date.now()
    const connection = await dial(fixture.product.ports['tcp/teltonika'])
    const fixes = Array.from({ length: minutes }, (_, n) => {
      const where = { latitude: 52.5 + n / 1000, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
      return { time: now - (minutes - 1 - n) * 60_000 - 1000, ...where }
    })
    connection.socket.write(
      Buffer.concat([teltonika.login!(id).bytes, teltonika.packet(fixes, { id, serial: 1 }).bytes]),
    )
    await expect.poll(() => on(route)).toBeGreaterThanOrEqual(minutes)
    connection.socket.destroy()
  }

  /** Returns the number of positions of the last hour that the tracking service has on a route. */
  async function on(route: number): Promise<number> {
    const now = Math.floor(Date.now() / 1000)
    return (await fixture.product.positions(String(route), now - 3600, now + 60)).length
  }

  it('an assignment on the page delivers earlier positions to the new route too, and the activity says so', async () => {
    await drive(1, 5)
    const { page, faults, close } = await open(`/vans/${idOf(1)}`)
    const dialog = await showAssignment(page, 3001, 30)
    const offer = dialog.locator('.redeliver')
    expect(await offer.textContent()).toMatch(/^5 positions of \d\d:\d\d to \d\d:\d\d have gone to route 1001\./)
    expect(await offer.textContent()).toContain('Route 1001 keeps them')
    const box = dialog.getByRole('checkbox', { name: 'Deliver them to route 3001 as well' })
    expect(await box.isChecked()).toBe(true)
    await expectAccessible(page)
    await page.setViewportSize(PHONE)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('5 positions are delivered as well.').waitFor()
    await expect.poll(() => on(3001)).toBe(5)
    expect(await on(1001)).toBe(5)

    await page.evaluate("location.hash = '/activity'")
    const item = page.locator('.activity-item', { hasText: 'Route assigned to' }).first()
    await expect.poll(() => item.textContent()).toContain('delivered as well 5')
    expect(await item.locator('.finding-meta').textContent()).toContain(
      '5 positions of Van 1 from route 1001 to route 3001',
    )
    expect((await item.locator('.tag').allTextContents()).join()).not.toContain('route')
    expect(faults).toEqual([])
    await close()
  })

  it('positions stay on their route if the box is not ticked, even if the van sends while the dialog is open', async () => {
    await drive(2, 4)
    const { page, faults, close } = await open(`/vans/${idOf(2)}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const dialog = await showAssignment(page, 3002, 30)
    const box = dialog.getByRole('checkbox', { name: 'Deliver them to route 3002 as well' })
    await box.uncheck()
    // New positions appear on the page, but do not change typed or ticked fields.
    const asked = page.waitForResponse(`**/admin/devices/${idOf(2)}`)
    await drive(2, 1)
    await asked
    expect(await box.isChecked()).toBe(false)
    expect(await dialog.getByLabel('Route', { exact: true }).inputValue()).toBe('3002')
    const write = page.waitForRequest((request) => request.url().includes('/assign') && request.method() === 'POST')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    expect((await write).url()).not.toContain('redeliver')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByText('delivered as well').count()).toBe(0)
    expect(await on(3002)).toBe(0)
    expect(faults).toEqual([])
    await close()
  })

  it('undo on the page offers to deliver positions again', async () => {
    await drive(3, 3)
    const { page, faults, close } = await open(`/vans/${idOf(3)}`)
    const dialog = await showAssignment(page, 3003, 20)
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => on(3003)).toBe(3)
    await drive(3, 1, 3003)
    await page.evaluate("location.hash = '/roster'")
    await page.locator('.writer').first().getByRole('button', { name: 'Undo' }).click()
    const undo = page.getByRole('dialog')
    const offer = undo.locator('.redeliver')
    // Route 1003 already has the first three positions.
    await expect.poll(() => offer.textContent()).toMatch(/^1 position of .* has gone to route 3003\./)
    expect(await undo.getByRole('checkbox', { name: 'Deliver it to route 1003 as well' }).isChecked()).toBe(true)
    await undo.locator('button[type=submit]').click()
    await expect.poll(() => on(1003)).toBe(4)
    expect(faults).toEqual([])
    await close()
  })

  it('a swap of two vans in the past offers to deliver the positions of each van again', async () => {
    await drive(4, 3)
    await drive(5, 2)
    const { page, faults, close } = await open('/roster')
    await page.getByRole('button', { name: /^Van 4: 1004/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Swap', exact: true }).click()
    await dialog.getByRole('button', { name: /^Van 5/ }).click()
    const swap = page.getByRole('dialog', { name: 'Swap Van 4 and Van 5' })
    await swap.getByRole('status').waitFor()
    // Nothing has been delivered after this time.
    expect(await swap.locator('.redeliver').count()).toBe(0)
    await swap.getByRole('button', { name: /^From the start of the route, \d\d:\d\d$/ }).click()
    const offer = swap.locator('.redeliver')
    await expect.poll(() => offer.textContent()).toMatch(/^5 positions of .* have gone to another route/)
    expect(await offer.locator('li').allTextContents()).toEqual([
      'Van 4 3 positions from route 1004 to route 1005',
      'Van 5 2 positions from route 1005 to route 1004',
    ])
    await expectAccessible(page)
    await swap.locator('button[type=submit]').click()
    await page.getByText('5 positions are delivered as well.').waitFor()
    await expect.poll(async () => [await on(1004), await on(1005)]).toEqual([5, 5])
    expect(faults).toEqual([])
    await close()
  })

  it('a takeover in the past offers to deliver positions again, with a second click', async () => {
    await drive(6, 2)
    const { page, faults, close } = await open('/roster')
    await page.getByRole('button', { name: /^Van 7: 1007/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Who takes over from Van 7?' })
    await dialog.getByLabel('From').fill(local(20))
    await dialog.getByRole('button', { name: /^Van 6/ }).click()
    await dialog.getByRole('checkbox', { name: 'Deliver them to route 1007 as well' }).waitFor()
    await dialog.locator('button[type=submit]').click()
    await expect.poll(() => on(1007)).toBe(2)
    expect(faults).toEqual([])
    await close()
  })

  it('a dropped file offers to deliver positions again, but not to a read token', async () => {
    await drive(8, 3)
    const day = new Date().toISOString().slice(0, 10)
    const text = `device,courier_id,route_id,from,until\nVan 8,,3008,${day} 00:00,${day} 24:00\n`
    const file = { name: 'today.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
    for (const token of [READER, OPERATOR]) {
      const { page, faults, close } = await open('/roster', { token })
      await page.locator('.timeline').waitFor()
      await page.locator('input[type=file]').setInputFiles(file)
      await page.getByLabel('Only vans that the file names').check()
      const offer = page.locator('.put .redeliver')
      await expect.poll(() => offer.textContent()).toMatch(/^3 positions of .* have gone to route 1008\./)
      const apply = page.locator('.put-foot button')
      if (token === READER) expect(await apply.isDisabled()).toBe(true)
      else {
        await apply.click()
        await expect.poll(() => on(3008)).toBe(3)
      }
      expect(faults).toEqual([])
      await close()
    }
  })

  it('the view Now offers to deliver positions again after a change of a file, but not to a read token', async () => {
    await drive(9, 3)
    const day = new Date().toISOString().slice(0, 10)
    await fixture.product.write('routes.csv', `${HEADER}Van 9,,3009,${day} 00:00,${day} 24:00\n`)
    for (const token of [READER, OPERATOR]) {
      const { page, faults, close } = await open('/', { token })
      const finding = page.locator('.finding', { hasText: 'positions of Van 9 went to another route' })
      await finding.waitFor()
      const button = finding.getByRole('button', { name: 'Deliver them as well' })
      if (token === READER) {
        expect(await button.isDisabled()).toBe(true)
        expect(await finding.getByRole('button', { name: 'Not needed' }).isDisabled()).toBe(true)
      } else {
        await button.click()
        await page.getByText('3 positions are delivered as well.').waitFor()
        await expect.poll(() => on(3009)).toBe(3)
        await expect.poll(() => finding.count()).toBe(0)
      }
      expect(faults).toEqual([])
      await close()
    }
  })

  it('the view Now offers a redelivery for each company, and says if somebody else has decided it', async () => {
    const { page, faults, close } = await open('/')
    const calls: string[] = []
    await page.route('**/admin/events?*', (route) => route.abort())
    await page.route('**/admin/status', async (route) => {
      const answer = await route.fetch()
      const status = (await answer.json()) as { findings: object[] }
      await route.fulfill({ json: { ...status, findings: [offerOf('7'), offerOf('8')] } })
    })
    await page.route('**/admin/roster/redeliver?*', (route) => {
      calls.push(`${route.request().method()} ${new URL(route.request().url()).search}`)
      return route.fulfill({ json: { fixes: route.request().method() === 'POST' ? 412 : 0 } })
    })
    await page.reload()
    const findings = page.locator('.finding')
    await expect.poll(() => findings.count()).toBe(2)
    await expectAccessible(page)
    await findings.first().getByRole('button', { name: 'Deliver them as well' }).click()
    await page.getByText('412 positions are delivered as well.').waitFor()
    await findings.last().getByRole('button', { name: 'Not needed' }).click()
    // No decision was left.
    await page.getByText('Somebody else has decided that already.').waitFor()
    expect(calls).toEqual(['POST ?company_id=7', 'DELETE ?company_id=8'])
    expect(faults).toEqual([])
    await close()
  })
})

async function showAssignment(page: Page, route: number, minutes: number) {
  await page.getByRole('button', { name: 'Change route' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Route', { exact: true }).fill(String(route))
  await dialog.getByLabel('From').fill(local(minutes))
  await dialog.getByRole('button', { name: 'Show what it does' }).click()
  await dialog.getByRole('status').waitFor()
  return dialog
}

/** Returns a finding in the format of the admin port. */
function offerOf(company: string) {
  const text = { message: `412 positions of Van 12 went to another route, company ${company}`, action: 'deliver them' }
  return {
    code: 'redelivery_offered',
    severity: 'warning',
    link: 'accepted',
    subject: { company_id: company },
    since_at: new Date().toISOString(),
    count: 412,
    evidence: [],
    ...text,
    plain: text,
  }
}
