import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Said } from '../../protocols/kit/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { localDay } from '../../src/domain/times.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { addAir } from '../../src/store/index.ts'
import { connected } from '../support/admin.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const [PARKED, SILENT, ALARM] = ['013', '021', '039'].map((end) => `356307042441${end}`)
const DEVICES = JSON.stringify({
  [PARKED]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001 },
  [SILENT]: { name: 'Van 13', company_id: 7, courier_id: 43, route_id: 1002 },
  [ALARM]: { name: 'Van 14', company_id: 7, courier_id: 44, route_id: 1003 },
})
const MIN = 60_000
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

describe.skipIf(!findChromium())('what trackers say beside their positions', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES })

  /** Stores that a gateway heard a van in Moabit, which reported something else before. */
  async function hear(device: string, agoMs: number, said: Said, before: Said = {}) {
    const redis = await connected(`unix://${join(fixture.product.dir, 'data/redis/redis.sock')}`)
    onTestFinished(() => redis.disconnect())
    const heard = new HeardBook(redis)
    const at = Date.now() - agoMs
    heard.of(device).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device, now: at }), 'gt06')
    heard
      .of(device)
      .stored({ fix: { at, fix: { time: at, latitude: 52.53, longitude: 13.342, valid: true, speed: 0 } } })
    heard.of(device).said(before, { at: at - 5 * MIN, cameAt: at - 5 * MIN })
    heard.of(device).said(said, { at, cameAt: at })
    await heard.close()
  }

  it('the view of a van shows what its tracker says, and list and map show it as parked without ignition', async () => {
    await hear(PARKED, 40 * MIN, { ignition: false, external_voltage: 12.41, driver: '0001A2' }, { ignition: true })
    await hear(SILENT, 40 * MIN, { ignition: true })
    await hear(ALARM, MIN, {
      ignition: true,
      moving: false,
      charging: false,
      external_voltage: 0.2,
      battery_voltage: 3.9,
      battery_percent: 71,
      alarms: ['power_cut', 'sos'],
    })
    const { page, faults, close } = await fixture.open('/vans')
    const row = (name: string) => page.locator('.van-table tbody tr').filter({ hasText: name })
    await expect.poll(() => row('Van 12').textContent()).toContain('Parked')
    await expect.poll(() => row('Van 13').textContent()).toContain('Silent')
    await expect.poll(() => row('Van 14').textContent()).toContain('Standing')
    await page.goto(page.url().replace(/#.*/, `#/vans/${PARKED}`))
    const said = page.locator('.said-panel')
    await expect.poll(() => said.textContent()).toMatch(/Ignitionoff · since \d\d:\d\d/)
    expect(await said.textContent()).toMatch(/External power12\.41 V · 40 min ago.*Driver0001A2 · since/)
    await expect.poll(() => page.locator('.van-head').textContent()).toMatch(/is parked .*ignition off since/)
    await page.goto(page.url().replace(/#.*/, `#/vans/${ALARM}`))
    await expect.poll(() => said.textContent()).toMatch(/Alarm: SOS\d\d:\d\d/)
    expect(await said.textContent()).toMatch(/stands · since.*0\.2 V.*71%.*3\.9 V.*Chargingno.*Alarm: power cut/)
    await page.locator('.chain-findings').getByText('SOS, the button was pressed').waitFor()
    for (const [viewport, colorScheme] of [
      [DESKTOP, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBe(0)
    }
    expect(faults).toEqual([])
    await close()
  })

  it('the view of a van shows the data volume of a tracker that connects anew for each position', async () => {
    const redis = await connected(`unix://${join(fixture.product.dir, 'data/redis/redis.sock')}`)
    onTestFinished(() => redis.disconnect())
    const yesterday = localDay(localDay(Date.now(), 'UTC').from - 1, 'UTC').from
    const air = { bytes: 137_000, connections: 8640, fixes: 8640, since: yesterday }
    await addAir(redis, yesterday, [[PARKED, air]])
    const { page, faults, close } = await fixture.open(`/vans/${PARKED}`)
    const fact = page.locator('.fact').filter({ hasText: 'On the air' })
    await expect.poll(() => fact.textContent()).toBe('On the airabout 4.1 MB a month · connects anew for each position')
    await page.setViewportSize(PHONE)
    expect(await page.evaluate(OVERHANG)).toBe(0)
    expect(faults).toEqual([])
    await close()
  })

  it('the view of a van does not call a held position filtered', async () => {
    const redis = await connected(`unix://${join(fixture.product.dir, 'data/redis/redis.sock')}`)
    onTestFinished(() => redis.disconnect())
    const heard = new HeardBook(redis)
    const at = Date.now() - MIN
    const fix = { time: at, latitude: 52.53, longitude: 13.342, valid: true }
    heard.of(ALARM).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device: ALARM, now: at }), 'gt06')
    heard.of(ALARM).stored({ fix: { at, fix }, filtered: { at, reason: 'no_route', fix, held: true } })
    await heard.close()
    const { page, close } = await fixture.open(`/vans/${ALARM}`)
    const facts = page.locator('dl.facts').first()
    await expect.poll(() => facts.textContent()).toContain('Last position')
    expect(await facts.textContent()).not.toContain('filtered')
    await close()
  })
})
