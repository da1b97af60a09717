import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { placeAt } from '../../src/page/data/replay.ts'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const [VAN, SPARE] = ['013', '021'].map((end) => `356307042441${end}`)
const DEVICES = JSON.stringify({
  [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001 },
  [SPARE]: { name: 'Van 20', company_id: 7, courier_id: 50, route_id: 1002 },
})
const MINUTES = 10
const at = (minute: number, lat: number) => ({ at: minute * 60_000, lat, lon: 13 })
const dayOf = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe('the place of a van at a time', () => {
  const track = [at(0, 52), at(2, 52.2), at(30, 53)]

  it('the place of a van is unknown before its first point, and interpolated between two close points', () => {
    expect(placeAt(track, -1)).toBeUndefined()
    expect(placeAt([], 0)).toBeUndefined()
    expect(placeAt(track, 60_000)).toMatchObject({ lat: expect.closeTo(52.1, 6), lon: 13, heading: 0, isKnown: true })
  })

  it('the place of a van is its last point, marked as unknown, if it was silent for long', () => {
    expect(placeAt(track, 15 * 60_000)).toEqual({ lat: 52.2, lon: 13, isKnown: false })
    expect(placeAt(track, 30 * 60_000)).toEqual({ lat: 53, lon: 13, isKnown: true })
    expect(placeAt(track, 60 * 60_000)).toEqual({ lat: 53, lon: 13, isKnown: false })
  })
})

describe.skipIf(!findChromium())('the replay of a day in a real browser', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES }, 'time_zone: UTC\n')

  // The minutes before belong to the same day.
  beforeEach(() => expect.poll(() => new Date().toISOString(), { timeout: 1_200_000 }).not.toMatch(/T(23:5|00:[01])/))

  async function drive(): Promise<void> {
    const now = Date.now()
    const connection = await dial(fixture.product.ports['tcp/teltonika'])
    const fixes = Array.from({ length: MINUTES }, (_, n) => {
      const where = { latitude: 52.5 + n / 100, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
      return { time: now - (MINUTES - 1 - n) * 60_000 - 1000, ...where }
    })
    const bytes = teltonika.packet(fixes, { id: VAN, serial: 1 }).bytes
    connection.socket.write(Buffer.concat([teltonika.login!(VAN).bytes, bytes]))
    const seconds = Math.floor(now / 1000)
    const stored = () => fixture.product.positions('1001', seconds - 3600, seconds + 60)
    await expect.poll(async () => (await stored()).length).toBeGreaterThanOrEqual(MINUTES)
    connection.socket.destroy()
  }

  it('the replay goes through a day by slider, by keys and by itself, and back to now', async () => {
    await drive()
    const { page, faults, close } = await fixture.open(`/vans/${VAN}`)
    const slider = page.getByRole('slider', { name: 'Replay of the day' })
    await slider.waitFor()
    expect(await page.getByRole('button', { name: 'Back to now' }).count()).toBe(0)
    // The slider shows the gaps of the day.
    await expect.poll(() => page.locator('.replay .g-unknown').count()).toBeGreaterThan(0)
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    const before = await valueOf(page)
    await page.keyboard.press('ArrowLeft')
    expect(await valueOf(page)).toBe(before - 60_000)
    await page.keyboard.press('PageDown')
    expect(await valueOf(page)).toBe(before - 61 * 60_000)
    // An hour ago nothing ran, so the slider says that there is no position.
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d, (Not known|no position)/)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Play' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await expect.poll(() => valueOf(page)).toBeGreaterThan(before - 61 * 60_000)
    // The van sends during the replay, which continues from its time to the last position.
    await drive()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    expect(Date.now() - (await valueOf(page))).toBeLessThan(15 * 60_000)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await expect.poll(() => page.locator('.replay-text').textContent()).toBe('now')
    await page.setViewportSize(PHONE)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect(faults).toEqual([])
    await close()
  })

  it('the replay says that no positions are stored for the day, and does not show the present place instead', async () => {
    await drive()
    const { page, faults, close } = await fixture.open(`/vans/${SPARE}`)
    await page.getByText(/^Nothing to replay: the tracking service has no position of/).waitFor()
    expect(await page.getByRole('slider').count()).toBe(0)
    await page.evaluate(`location.hash = '/vans/${VAN}?day=${dayOf(-1)}'`)
    await page.getByRole('heading', { name: /^Way of/ }).waitFor()
    await page.getByText(/^Nothing to replay/).waitFor()
    await page.getByText('Nothing of this day', { exact: true }).waitFor()
    expect(await page.locator('.track-map').count()).toBe(0)
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })

  it('the replay says that the positions cannot be read, and not that there are none', async () => {
    const { page, close } = await fixture.open('/')
    await page.route('**/courier-positions?*', (route) => route.fulfill({ status: 503, json: { message: 'down' } }))
    await page.evaluate(`location.hash = '/vans/${SPARE}'`)
    await page.locator('.replay-none').getByText('could not be read from the tracking service').waitFor()
    expect(await page.getByText('Nothing to replay').count()).toBe(0)
    await close()
  })

  it('the replay ignores the track of a day that is no longer chosen', async () => {
    await drive()
    const { page, close } = await fixture.open('/')
    const held = Promise.withResolvers<void>()
    await page.route('**/courier-positions?*', async (route) => {
      await held.promise
      await route.continue().catch(() => {})
    })
    await page.evaluate(`location.hash = '/vans/${VAN}'`)
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    await page.locator('.track-panel').waitFor()
    await page.unroute('**/courier-positions?*')
    await page.evaluate(`location.hash = '/vans/${VAN}?day=${dayOf(-1)}'`)
    await page.getByText(/^Nothing to replay/).waitFor()
    held.resolve()
    await page.waitForTimeout(1000)
    expect(await page.getByRole('slider').count()).toBe(0)
    await close()
  })
})

async function valueOf(page: Page): Promise<number> {
  return Number(await page.getByRole('slider').inputValue())
}
