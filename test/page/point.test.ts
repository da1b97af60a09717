import { describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { expectAccessible, findChromium, LOOKS, PHONE, pageFixture } from '../support/browser.ts'

const OWN = '356307042441047'
const NEW = '356307042441054'
const SEVEN = 'seven-token-3b9c20'
const OPERATOR = 'operator-token-77aa31'
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'
const YAML = `
companies: [{ company_id: 7, apikey: a }, { company_id: 8, apikey: b }]
admin: { port: 0, tokens: [${OPERATOR}, { token: ${SEVEN}, companies: [7] }] }
`
const FILES = {
  'devices.yaml': `"${OWN}": { name: Van 47, company_id: 7 }\n"356307042441088": { name: Van 88, company_id: 8 }\n`,
}

describe.skipIf(!findChromium())('the set-up of a tracker', () => {
  const fixture = pageFixture(FILES, YAML)
  const open = (view: string, options = {}) => fixture.open(view, { token: OPERATOR, ...options })

  async function send(id: string, withFix = true) {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    const fix = {
      time: Date.now(),
      latitude: 52.5,
      longitude: 13.4,
      valid: true,
      speed: 10,
      heading: 90,
      satellites: 9,
    }
    line.socket.write(teltonika.login!(id).bytes)
    if (withFix) line.socket.write(teltonika.packet([fix], { id, serial: 1 }).bytes)
    return line
  }

  it('the page shows the SMS and a QR code for a tracker, and then its first position', async () => {
    const { page, faults, close } = await open('/arrivals')
    await page.getByRole('link', { name: 'Point a tracker here' }).first().click()
    await page.locator('.point-fields input').first().fill('teltonika')
    await page.getByLabel(/^Server/).fill('gps.example.com')
    const port = fixture.product.ports['tcp/teltonika']
    await expect.poll(() => page.getByText('Replace what is in <> first.').count()).toBe(1)
    expect(await page.locator('svg.qr').count()).toBe(0)
    await page.getByLabel('APN of the SIM').fill('m2m')
    await page.getByLabel('Telephone number').fill('+49 171 23456')
    await page.getByRole('img', { name: 'QR code of SMS 1' }).waitFor()
    expect(await page.locator('.point-code').textContent()).toBe(
      `  setparam 2001:m2m;2002:;2003:;2004:gps.example.com;2005:${port};2006:0;113:1`,
    )
    await page.getByText('Waiting for a tracker that was never heard').waitFor()
    const line = await send(NEW)
    await page.getByText('There it is').waitFor()
    await expect.poll(() => page.locator('.point-found').textContent()).toMatch(/356307042441054.*teltonika.*52\.5/)
    await page.locator('.point-found').getByRole('button', { name: 'Name it' }).waitFor()
    line.socket.destroy()
    expect(faults).toEqual([])
    await close()
  })

  it('the page waits for a tracker by its id whatever else arrives, also with a token of its company', async () => {
    const { page, close } = await fixture.open(`/point?id=${OWN}`, { token: SEVEN, viewport: PHONE })
    await page.getByText(`Waiting for ${OWN}`).waitFor()
    const other = await send('356307042441088')
    const login = await send(OWN, false)
    await page.getByText('Waiting for its first position').waitFor()
    const line = await send(OWN)
    await expect.poll(() => page.locator('.point-found').textContent()).toMatch(/Van 47.*52\.5/)
    expect(await page.locator('.point-found').count()).toBe(1)
    expect(await page.locator('main').textContent()).not.toContain('Van 88')
    for (const each of [other, login, line]) each.socket.destroy()
    await close()
  })

  it.each(LOOKS)('the set-up page fits its window, and axe finds no serious problem, %s, %o, %s', async (...how) => {
    const [colorScheme, viewport, locale] = how
    const { page, faults, close } = await open('/point', { colorScheme, viewport, locale })
    await page.locator('.point-fields input').first().fill('gps103')
    await page.getByLabel(/^Server/).fill('gps.example.com')
    await page.getByLabel(/^APN/).fill('m2m')
    await page.locator('svg.qr path').first().waitFor()
    await expectAccessible(page)
    expect(await page.evaluate(OVERHANG)).toBe(0)
    if (process.env.SCREENSHOTS)
      await page.screenshot({
        path: `${process.env.SCREENSHOTS}/point-${how[0]}-${viewport.width}-${locale}.png`,
        fullPage: true,
      })
    expect(faults).toEqual([])
    await close()
  })
})
