import { describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const VAN = '356307042441013'
const DEVICES = JSON.stringify({ [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001 } })
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

describe.skipIf(!findChromium())('the frames and the days of a van', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES })

  async function connect() {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    line.socket.write(teltonika.login!(VAN).bytes)
    let serial = 0
    const send = () => {
      const fix = {
        time: Date.now(),
        latitude: 55.09,
        longitude: 24.31,
        valid: true,
        speed: 10,
        heading: 90,
        satellites: 9,
      }
      line.socket.write(teltonika.packet([fix, { ...fix, time: fix.time - 1000 }], { id: VAN, serial: ++serial }).bytes)
    }
    return { send, end: () => line.socket.destroy() }
  }

  it('the page shows the frames of a watched van live: the bytes, and what was read from them', async () => {
    const tracker = await connect()
    tracker.send()
    const { page, faults, close } = await fixture.open(`/vans/${VAN}`)
    const frames = page.locator('.frames-panel')
    await frames.getByText('Frames are not kept').waitFor()
    await frames.getByRole('button', { name: 'Watch for 15 minutes' }).click()
    await frames.getByText('Waiting for the next frame').waitFor()
    // A gateway learns within a second that the device is watched.
    const sending = setInterval(tracker.send, 500)
    await frames.locator('.frame').first().waitFor()
    clearInterval(sending)
    const first = frames.locator('.frame').last()
    await expect.poll(() => first.textContent()).toContain('55.09000, 24.31000')
    expect(await first.locator('.fix-table tbody tr').count()).toBe(2)
    expect(await first.locator('.hex-bytes').first().textContent()).toMatch(/^00 00 00 00 /)
    expect(await first.textContent()).toContain('36 km/h · 90°')
    expect(await first.textContent()).toContain('Answered with 00 00 00 02')
    // At most 20 frames are shown.
    const newest = () => frames.locator('.frame').first().textContent()
    const before = await newest()
    tracker.send()
    await expect.poll(newest).not.toBe(before)
    await expect.poll(() => page.locator('.van-figures').textContent()).toContain('2 km NE of Jonava')
    expect(faults).toEqual([])
    tracker.end()
    await close()
  })

  it('the page shows for each day when a van had positions, and why it had none', async () => {
    const { page, faults, close } = await fixture.open(`/vans/${VAN}`)
    const days = page.locator('.days-panel')
    await days.getByRole('button').first().waitFor()
    expect(await days.getByRole('button').count()).toBe(7)
    expect(await days.getByRole('button', { pressed: true }).count()).toBe(1)
    await days.getByRole('button').last().click()
    await expect.poll(() => days.locator('.day-gaps').textContent()).toMatch(/perhaps nothing ran here/)
    // A gateway writes its notes when it ends.
    for (const pid of fixture.product.pidsOf('gateway')) process.kill(pid, 'SIGTERM')
    await expect.poll(() => days.locator('.day-fixes').first().textContent()).toMatch(/^\d+ arrived$/)
    expect(await days.getByRole('button').last().getAttribute('aria-pressed')).toBe('true')
    expect(faults).toEqual([])
    await close()
    // The gateway restarts.
    await expect.poll(async () => (await connect().catch(() => undefined))?.end() !== undefined).toBe(true)
  })

  it.each([DESKTOP, PHONE])(
    'the hours above the days of a van begin and end with their strips, %o',
    async (viewport) => {
      const { page, close } = await fixture.open(`/vans/${VAN}`, { viewport })
      await page.locator('.days .day-strip').first().waitFor()
      const [hours, strip] = await Promise.all(
        ['.day-hours', '.day-strip'].map((part) => page.locator(`.days ${part}`).first().boundingBox()),
      )
      expect(hours!.x).toBeCloseTo(strip!.x)
      expect(hours!.width).toBeCloseTo(strip!.width)
      await close()
    },
  )

  it.each([
    ['light', DESKTOP, 'de-DE'],
    ['dark', PHONE, 'en-GB'],
    ['light', PHONE, 'de-DE'],
  ] as const)(
    'axe finds no serious problem in the frames of a van, %s, %o, %s',
    async (colorScheme, viewport, locale) => {
      // More events than the list shows at once.
      for (let times = 0; times < 10; times++) (await connect()).end()
      const tracker = await connect()
      const { page, faults, close } = await fixture.open(`/vans/${VAN}`, { colorScheme, viewport, locale })
      await fixture.product.admin(`/admin/devices/${VAN}/watch`, { method: 'POST' })
      const sending = setInterval(tracker.send, 500)
      await page.locator('.frames-panel .frame').first().waitFor()
      clearInterval(sending)
      await page.locator('.days-panel .day-row').first().waitFor()
      const place = locale === 'de-DE' ? '2 km nordöstlich von Jonava' : '2 km NE of Jonava'
      await expect.poll(() => page.locator('.van-figures').textContent()).toContain(place)
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBe(0)
      expect(faults).toEqual([])
      tracker.end()
      await close()
    },
  )
})
