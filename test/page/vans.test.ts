import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { AUTO_LISTENER, dial } from '../rig/product.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const [WELL, REFUSED, NEVER, FREE] = ['013', '021', '039', '047'].map((end) => `356307042441${end}`)
const DEVICES = JSON.stringify({
  [WELL]: { name: 'Van 1', company_id: 7, courier_id: 41, route_id: 1001 },
  [REFUSED]: { name: 'Van 2', company_id: 7, courier_id: 42, route_id: 1002 },
  [NEVER]: { name: 'Van 3', company_id: 7, courier_id: 43, route_id: 1003 },
  [FREE]: { name: 'Van 4', company_id: 7 },
})
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'
const REFUSAL = 'The tracking service refuses courier 42 on route 1002'
const refused = status(404, '{"message":"no_such_route"}', { 'content-type': 'application/json' })
const unprocessable = status(422, '{"message":"too_old"}', { 'content-type': 'application/json' })
const usual: Respond = (push, response) => (push.courier === '42' ? refused : ok)(push, response)

describe.skipIf(!findChromium())('vans with a problem', async () => {
  const api = await startApi(usual)
  const fixture = pageFixture(
    { 'devices.yaml': DEVICES },
    `${AUTO_LISTENER}tracking: { base_url: "${api.url}", listen: { host: 127.0.0.1, port: 0 } }\n`,
  )
  const lines: Awaited<ReturnType<typeof dial>>[] = []
  afterEach(() => {
    for (const { socket } of lines.splice(0)) socket.destroy()
  })
  afterAll(() => api.close())

  async function drive(id: string) {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    lines.push(line)
    const where = { latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
    const fix = { time: Date.now() - 2000, ...where }
    line.socket.write(Buffer.concat([teltonika.login!(id).bytes, teltonika.packet([fix], { id, serial: 1 }).bytes]))
    await expect.poll(() => line.answered().length).toBeGreaterThan(4)
  }

  it('the page says in one sentence what is wrong with a van, and shows no refused van in green', async () => {
    await drive(WELL)
    await drive(REFUSED)
    const { page, faults, close } = await fixture.open('/vans')
    const row = (name: string) => page.locator('.van-table tbody tr', { hasText: name })
    await row('Van 2').getByText(REFUSAL).waitFor()
    const dots = ['Van 1', 'Van 2'].map((name) => row(name).locator('.dot').getAttribute('class'))
    expect(await Promise.all(dots)).toEqual(['dot c-moving', 'dot c-refused'])
    expect(await row('Van 1').locator('.problem-text').count()).toBe(0)
    await row('Van 3').getByText('Nothing of its tracker was accepted so far').waitFor()
    expect(await row('Van 4').locator('.problem-text').count()).toBe(0)
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })

  it('the page says that single positions of a van are refused, until they are accepted', async () => {
    api.respond((push, response) => (push.courier === '41' ? unprocessable : usual)(push, response))
    await drive(WELL)
    const { page, close } = await fixture.open('/vans')
    const row = page.locator('.van-table tbody tr', { hasText: 'Van 1' })
    const dot = () => row.locator('.dot').getAttribute('class')
    await row.getByText('The tracking service refuses positions of courier 41 on route 1001').waitFor()
    expect(await dot()).toBe('dot c-refused')
    api.respond(usual)
    await drive(WELL)
    await row.locator('.problem-text').waitFor({ state: 'detached' })
    expect(await dot()).toBe('dot c-moving')
    await close()
  })

  it('the page lists the vans with a problem, the one that was silent for longest first', async () => {
    await drive(WELL)
    await drive(REFUSED)
    const { page, faults, close } = await fixture.open('/vans')
    const chip = page.getByRole('button', { name: 'With a problem' })
    await expect.poll(() => chip.textContent()).toBe('With a problem2')
    await chip.click()
    const names = () => page.locator('.van-table .row-link').allTextContents()
    await expect.poll(names).toEqual(['Van 3', 'Van 2'])
    expect(await page.locator('.van-table tbody tr').first().locator('.col-seen').textContent()).toBe('never')
    expect(page.url()).toContain('problem=any')
    await chip.click()
    await expect.poll(names).toEqual(['Van 1', 'Van 2', 'Van 3', 'Van 4'])
    await page.setViewportSize(PHONE)
    await page.locator('.problem-text').first().waitFor()
    expect(await page.evaluate(OVERHANG)).toBe(0)
    await expectAccessible(page)
    await page.setViewportSize(DESKTOP)
    expect(faults).toEqual([])
    await close()
  })
})
