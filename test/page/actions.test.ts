import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { expectAccessible, findChromium, pageFixture } from '../support/browser.ts'

const [VAN, SPARE, AHEAD] = ['013', '021', '039'].map((end) => `356307042441${end}`)
const UNKNOWN = ['047', '054'].map((end) => `356307042441${end}`)
const DEVICES = JSON.stringify({
  [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001 },
  [SPARE]: { name: 'Van 20', company_id: 7, courier_id: 50 },
  [AHEAD]: { name: 'Van 30', company_id: 7, courier_id: 60, route_id: 3001 },
})

describe.skipIf(!findChromium())('actions on the page', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES })

  async function send(id: string, time: number) {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    const fix = { time, latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
    line.socket.write(Buffer.concat([teltonika.login!(id).bytes, teltonika.packet([fix], { id, serial: 1 }).bytes]))
    await expect.poll(() => line.answered().length).toBe(5)
    return line
  }

  const routeOf = async (id: string) =>
    (await fixture.product.admin<{ lane?: { route_id: string } }>(`/admin/devices/${id}`)).lane?.route_id

  it('the page gives a van a route after it has shown what that does', async () => {
    const { page, faults, close } = await fixture.open(`/vans/${SPARE}`)
    await page.getByRole('button', { name: 'Assign a route' }).click()
    await dialog(page).getByLabel('Route', { exact: true }).fill('2001')
    await dialog(page).getByRole('button', { name: 'Show what it does' }).click()
    await dialog(page).getByRole('status').waitFor()
    await expectAccessible(page)
    expect(await routeOf(SPARE)).toBeUndefined()
    await dialog(page).getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => routeOf(SPARE)).toBe('2001')
    await page.getByRole('button', { name: 'Change route' }).waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page swaps two vans after it has named the van that loses its route', async () => {
    const { page, close } = await fixture.open(`/vans/${SPARE}`)
    await page.getByRole('button', { name: 'Change route' }).click()
    await dialog(page).getByRole('button', { name: 'Take over from' }).click()
    await dialog(page).getByLabel('Van whose routes it takes over').fill('Van 12')
    await dialog(page).getByRole('button', { name: 'Show what it does' }).click()
    await expect.poll(() => dialog(page).getByRole('status').textContent()).toContain('Van 12')
    await dialog(page).locator('button[type=submit]').click()
    await expect.poll(() => routeOf(SPARE)).toBe('1001')
    await close()
  })

  it('the page ends a route', async () => {
    const { page, close } = await fixture.open(`/vans/${SPARE}`)
    await page.getByRole('button', { name: 'Change route' }).click()
    await dialog(page).getByRole('button', { name: 'End its route' }).click()
    await dialog(page).getByRole('button', { name: 'Show what it does' }).click()
    await dialog(page).getByRole('status').waitFor()
    await dialog(page).locator('button[type=submit]').click()
    await expect.poll(() => routeOf(SPARE)).not.toBe('1001')
    await close()
  })

  it('the page sets the time zone of a van with a fast clock, whose held fixes are then delivered', async () => {
    const time = Date.now() + 3 * 3_600_000 - 5000
    const line = await send(AHEAD, time)
    const { page, faults, close } = await fixture.open(`/vans/${AHEAD}`)
    await page.getByRole('button', { name: 'Set time zone +03:00' }).click()
    const at = Math.floor(time / 1000) - 3 * 3600
    await expect.poll(() => fixture.product.positions('3001', at - 60, at + 60)).toHaveLength(1)
    expect(faults).toEqual([])
    line.socket.destroy()
    await close()
  })

  it('the page edits the entry of a van, and shows mistakes at their field', async () => {
    const { page, close } = await fixture.open(`/vans/${VAN}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog(page).getByLabel('Courier').fill('abc')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await dialog(page).locator('.field-error').waitFor()
    await dialog(page).getByLabel('Courier').fill('43')
    await dialog(page).getByLabel('Name').fill('Van 12b')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Van 12b' }).waitFor()
    await close()
  })

  it('the page names several devices at once', async () => {
    const lines = await Promise.all(UNKNOWN.map((id) => send(id, Date.now() - 5000)))
    const { page, close } = await fixture.open('/arrivals')
    for (const id of UNKNOWN) await page.getByLabel(`Mark ${id}`).check()
    await page.getByRole('button', { name: 'Name 2 devices' }).click()
    // The field is filled when the fleet is known.
    await expect.poll(() => dialog(page).getByLabel('Company').inputValue()).toBe('7')
    for (const [index, id] of UNKNOWN.entries())
      await dialog(page)
        .getByRole('group', { name: id })
        .getByLabel('Name')
        .fill(`New ${index + 1}`)
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await page
      .getByText('2 devices are named.')
      .waitFor()
      .catch(async () => {
        throw new Error(await page.locator('body').innerText())
      })
    const { name } = await fixture.product.admin<{ name: string }>(`/admin/devices/${UNKNOWN[1]}`)
    expect(name).toBe('New 2')
    for (const line of lines) line.socket.destroy()
    await close()
  })

  it('the page shows a sending van without a reload', async () => {
    const { page, close } = await fixture.open('/vans')
    await page.getByText('Live', { exact: true }).waitFor()
    const line = await send(VAN, Date.now() - 1000)
    await expect.poll(() => page.getByRole('row', { name: /Van 12b/ }).textContent()).toMatch(/\d s ago/)
    line.socket.destroy()
    await close()
  })

  it('the page works with the keyboard only: to the content, the search, into a dialog and out of it', async () => {
    const { page, close } = await fixture.open('/vans')
    await page.getByRole('link', { name: 'Van 20' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Van 20')
    await page.getByRole('option', { name: /Van 20/ }).waitFor()
    await page.keyboard.press('Enter')
    const button = page.getByRole('button', { name: /Assign a route|Change route/ })
    await button.focus()
    await page.keyboard.press('Enter')
    await dialog(page).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/route/)
    await close()
  })
})

function dialog(page: Page) {
  return page.getByRole('dialog')
}
