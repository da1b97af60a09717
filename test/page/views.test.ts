import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { crc16X25 } from '../../protocols/kit/index.ts'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { expectAccessible, findChromium, LOOKS, PHONE, pageFixture } from '../support/browser.ts'

const [VAN, UNKNOWN, SCRIPT, LONG, RIGHT, FIRST, SECOND] = ['013', '021', '039', '047', '054', '062', '070'].map(
  (end) => `356307042441${end}`,
)
const LONG_NAME = `Van ${'x'.repeat(296)}`
const DEVICES = JSON.stringify({
  [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001 },
  [SCRIPT]: { name: '<script>alert(1)</script>', company_id: 7, courier_id: 43, route_id: 1002 },
  [LONG]: { name: LONG_NAME, company_id: 7, courier_id: 44, route_id: 1003 },
  [RIGHT]: { name: 'Van \u202Eright\u202C', company_id: 7 },
})
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'
const VIEWS = ['/', '/vans', `/vans/${VAN}`, '/arrivals', '/queues']

/** Returns a GT06 frame. */
function gt06(type: number, content: Buffer, serial: number): Buffer {
  const covered = Buffer.concat([Buffer.of(content.length + 5, type), content, Buffer.of(0, serial)])
  const sum = Buffer.alloc(2)
  sum.writeUInt16BE(crc16X25(covered))
  return Buffer.concat([Buffer.from('7878', 'hex'), covered, sum, Buffer.from('0d0a', 'hex')])
}

/** Returns a packet of a device with one present fix. */
function packetOf(id: string): Buffer {
  const where = { latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
  return teltonika.packet([{ time: Date.now() - 2000, ...where }], { id, serial: 1 }).bytes
}

describe.skipIf(!findChromium())('the views in a real browser', () => {
  const fixture = pageFixture({ 'devices.yaml': DEVICES })

  async function drive(id: string) {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    line.socket.write(Buffer.concat([teltonika.login!(id).bytes, packetOf(id)]))
    await expect.poll(() => line.answered().length).toBeGreaterThan(0)
    return line
  }

  it('the page lists every van, and finds one by a part of its name', async () => {
    const { page, faults, close } = await fixture.open('/vans')
    await page.getByRole('link', { name: 'Van 12' }).waitFor()
    await page.getByRole('link', { name: '<script>alert(1)</script>' }).waitFor()
    await page.getByRole('searchbox').fill('script')
    await expect.poll(() => page.locator('.van-table tbody tr').count()).toBe(1)
    expect(page.url()).toContain('q=script')
    expect(faults).toEqual([])
    await close()
  })

  it('the page counts frames that were not understood by protocol and reason, and says how to report them', async () => {
    const line = await dial(fixture.product.ports['tcp/gt06'])
    line.socket.write(gt06(0x01, Buffer.from(`0${VAN}`, 'hex'), 1))
    await expect.poll(() => line.answered().length).toBe(10)
    for (const serial of [2, 3]) line.socket.write(gt06(0xc7, Buffer.from('0102030405', 'hex'), serial))
    await expect.poll(() => line.answered().length).toBe(30)
    const { page, faults, close } = await fixture.open('/arrivals')
    const panel = page.locator('.panel', { hasText: 'Messages that could not be read' })
    await panel.waitFor()
    expect(await panel.textContent()).toMatch(/gt06.*2 messages.*its type is not known.*misunderstood export/s)
    await panel.locator('summary').click()
    await expect.poll(() => panel.locator('.hex').isVisible()).toBe(true)
    await expectAccessible(page)
    await page.setViewportSize(PHONE)
    expect(await page.evaluate(OVERHANG)).toBeLessThanOrEqual(0)
    expect(faults).toEqual([])
    line.socket.destroy()
    await close()
    await fixture.product.admin('/admin/misunderstood?all=true', { method: 'DELETE' })
  })

  it('the page shows a van that has been silent for long by its deep link, with what is known', async () => {
    const line = await drive(VAN)
    const { page, faults, close } = await fixture.open(`/vans/${VAN}`)
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    await expect.poll(() => page.locator('.events').textContent()).toContain('Connected')
    await expect.poll(() => page.locator('.van').textContent()).toContain('52.50000, 13.40000')
    await page.locator('.map canvas').first().waitFor()
    expect(faults).toEqual([])
    line.socket.destroy()
    await close()
  })

  it('the page shows a van that sends all the time, even if each answer takes more than a second', async () => {
    const line = await drive(VAN)
    const { page, faults, close } = await fixture.open('/')
    await page.locator('.freshness.is-live').waitFor({ state: 'attached' })
    await page.route(`**/admin/devices/${VAN}*`, async (route) => {
      await pause(2500)
      await route.continue().catch(() => {})
    })
    const sending = setInterval(() => line.socket.write(packetOf(VAN)), 500)
    await page.evaluate(`location.hash = '/vans/${VAN}'`)
    await page.getByRole('heading', { name: 'Van 12' }).waitFor()
    clearInterval(sending)
    expect(faults).toEqual([])
    line.socket.destroy()
    await close()
  })

  it('the page names an unconfigured device, whose held fixes are then delivered', async () => {
    const line = await drive(UNKNOWN)
    const { page, faults, close } = await fixture.open('/arrivals')
    await page.getByText(UNKNOWN).waitFor()
    await page.getByRole('button', { name: 'Name it' }).click()
    const dialog = page.getByRole('dialog')
    await expectAccessible(page)
    await page.keyboard.type('Van 21')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Van 21')
    await dialog.getByLabel('Company').selectOption('7')
    await dialog.getByLabel('Courier').fill('21')
    await dialog.getByLabel('Route').fill('2001')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Van 21 is saved.').waitFor()
    const now = Math.floor(Date.now() / 1000)
    await expect.poll(() => fixture.product.positions('2001', now - 600, now)).toHaveLength(1)
    expect(faults).toEqual([])
    line.socket.destroy()
    await close()
  })

  it('the page keeps a sender in its place while another one sends, so that no button moves', async () => {
    const { page, faults, close } = await fixture.open('/arrivals')
    const ids = () => page.locator('.arrival-title a').allTextContents()
    const first = await drive(FIRST)
    await expect.poll(ids).toEqual([FIRST])
    const second = await drive(SECOND)
    await expect.poll(ids).toEqual([SECOND, FIRST])
    const held = page.locator('.arrival', { hasText: FIRST }).getByText('2 held')
    first.socket.write(packetOf(FIRST))
    await held.waitFor()
    expect(await ids()).toEqual([SECOND, FIRST])
    await page.evaluate("location.hash = '/'")
    const unknown = page.locator('.finding', { hasText: 'unknown_device' })
    await unknown.getByText('and 1 more with this cause').waitFor()
    expect([await unknown.count(), await unknown.getByRole('link').count()]).toEqual([1, 2])
    expect(faults).toEqual([])
    for (const { socket } of [first, second]) socket.destroy()
    await close()
  })

  it('the page lists a van whose bytes were not understood once, with the number of its connections', async () => {
    for (let times = 0; times < 3; times++) {
      const line = await dial(fixture.product.ports['tcp/gt06'])
      line.socket.end(`nobody knows this: 0${VAN} \r\n`)
    }
    const { page, faults, close } = await fixture.open('/arrivals')
    const row = page.locator('.arrival', { hasText: 'is not understood here' })
    await row.getByText(/^3 connections since/).waitFor()
    expect(await row.count()).toBe(1)
    expect(await row.textContent()).toContain('the port expects gt06')
    await row.getByRole('link', { name: 'Van 12' }).waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page shows hostile names as text that fits the window', async () => {
    for (const id of [SCRIPT, LONG, RIGHT]) {
      const { page, faults, close } = await fixture.open(`/vans/${id}`, { viewport: PHONE })
      await page.locator('.van-title h1').waitFor()
      const wide = await page.evaluate(OVERHANG)
      expect([id, faults, wide]).toEqual([id, [], 0])
      await close()
    }
  })

  it('the page greys its content while the admin port does not answer, and says since when', async () => {
    const { page, close } = await fixture.open('/')
    await page.locator('.verdict h1').waitFor()
    const frozen = fixture.product.pidsOf('admin')
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    try {
      await page.getByRole('alert').filter({ hasText: 'No answer since' }).waitFor()
      await expectAccessible(page)
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
    }
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    await close()
  })

  it('the page says that Redis is down of a van that is opened only then, and of no link that it works', async () => {
    const { page, faults, close } = await fixture.open('/vans')
    await page.getByRole('link', { name: 'Van 12' }).waitFor()
    const redis = fixture.product.redisPid()!
    process.kill(redis, 'SIGSTOP')
    try {
      await page.evaluate("location.hash = '/?link=accepted'")
      await page.getByText('Not known now').waitFor()
      expect(await page.getByText(/Nothing is wrong|seven links works/).count()).toBe(0)
      await page.evaluate(`location.hash = '/vans/${VAN}'`)
      const sentence = page.locator('.van-sentence', { hasText: 'This server cannot store anything' })
      await sentence.waitFor()
      await page.locator('.chain .is-broken', { hasText: 'Stored' }).waitFor()
    } finally {
      process.kill(redis, 'SIGCONT')
    }
    await page.getByText('This server cannot store anything').first().waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it.each(LOOKS)('axe finds no serious problem in any view, %s, %o, %s', async (colorScheme, viewport, locale) => {
    const { page, faults, close } = await fixture.open('/', { colorScheme, viewport, locale })
    for (const view of VIEWS) {
      await page.evaluate(`location.hash = '${view}'`)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('.loading').count()).toBe(0)
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBe(0)
    }
    expect(faults).toEqual([])
    await close()
  })
})
