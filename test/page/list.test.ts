import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'
import { BROKEN, fleetCsv, fleetXlsx, imeiOf, lineOf, plateOf } from '../support/fleet-list.ts'

const OPERATOR = 'operator-token-77aa31'
const VAN = '356307042441013'
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

describe.skipIf(!findChromium())('a list of vans in a real browser', () => {
  const fixture = pageFixture(
    { 'devices.yaml': `"${VAN}": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n` },
    `time_zone: UTC
companies: [{ company_id: 7, apikey: canary-7, oauth_token: canary-oauth-7 }, { company_id: 8, apikey: canary-8 }]
admin: { port: 0, tokens: [{ name: dispatch, token: ${OPERATOR} }] }
`,
  )

  const open = (options = {}) => fixture.open('/vans', { token: OPERATOR, ...options })

  async function nameOf(id: string): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${OPERATOR}` }
    const answer = await fetch(`http://127.0.0.1:${fixture.product.ports.admin}/admin/devices/${id}`, { headers })
    return ((await answer.json()) as { name?: string }).name
  }

  it.each([
    ['fleet.csv', fleetCsv(), DESKTOP, 'light', 'de-DE'],
    ['fleet.xlsx', fleetXlsx(), DESKTOP, 'dark', 'en-GB'],
    ['fleet.csv', fleetCsv(), PHONE, 'light', 'de-DE'],
  ] as const)(
    'a device list is reviewed, decided, applied and undone on the page: %s (%#)',
    async (name, bytes, viewport, colorScheme, locale) => {
      const isGerman = locale === 'de-DE'
      const say = (german: string, english: string) => (isGerman ? german : english)
      const { page, faults, close } = await open({ viewport, colorScheme, locale })
      await page.locator('main').getByText('Van 12').first().waitFor()
      await drop(page, bytes, name)
      const panel = page.locator('.list')
      await panel.locator('.change', { hasText: plateOf(1) }).waitFor()
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBeLessThanOrEqual(0)
      expect(await page.getByRole('combobox', { name: /^imei-nummer/ }).inputValue()).toBe('device')
      expect(await page.getByRole('combobox', { name: /^kennzeichen/ }).inputValue()).toBe('name')
      expect(await figure(page, say('neu', 'new'))).toBe('294')
      expect(await panel.locator('.doubt').count()).toBe(6)
      const shots = process.env.LIST_SHOTS
      if (shots)
        await page.screenshot({ path: `${shots}/${name}-${viewport.width}-${colorScheme}.png`, fullPage: true })

      if (viewport === PHONE) {
        await panel.getByRole('button', { name: 'Verwerfen' }).click()
        return close()
      }
      const lineText = (van: number) => new RegExp(`^${say('Zeile', 'Line')} ${lineOf(van)}$`)
      const doubt = (van: number) =>
        panel.locator('.doubt').filter({ has: page.locator('.remark-line', { hasText: lineText(van) }) })
      await doubt(151)
        .getByRole('button', { name: say('Die Kennung stimmt', 'The id is right') })
        .click()
      await panel.locator('.decided', { hasText: BROKEN[151] }).waitFor()
      for (const van of [17, 222]) {
        await doubt(van).getByRole('textbox').fill(imeiOf(van))
        await doubt(van)
          .getByRole('button', { name: say('Übernehmen', 'Take it') })
          .click()
        await panel.locator('.decided', { hasText: imeiOf(van) }).waitFor()
      }
      await expect.poll(() => figure(page, say('neu', 'new'))).toBe('298')
      expect(await nameOf(imeiOf(1))).toBeUndefined()

      await panel.getByRole('button', { name: say('Anwenden', 'Apply'), exact: true }).click()
      await panel.getByText(say('Gilt: 298 neu, 0 geändert.', 'In effect: 298 new, 0 changed.')).waitFor()
      expect(await panel.locator('.remarks li').count()).toBe(2)
      expect([await nameOf(imeiOf(1)), await nameOf(imeiOf(222)), await nameOf(BROKEN[151])]).toEqual(
        [1, 222, 151].map(plateOf),
      )
      await expectAccessible(page)
      await panel.getByRole('button', { name: say('Zurücknehmen', 'Undo') }).click()
      const dialog = page.getByRole('dialog')
      await dialog.locator('.change', { hasText: plateOf(1) }).waitFor()
      await expectAccessible(page)
      if (shots) await page.screenshot({ path: `${shots}/undo-${viewport.width}-${colorScheme}.png` })
      await dialog.getByRole('button', { name: say('Zurücknehmen', 'Undo') }).click()
      await panel.waitFor({ state: 'detached' })
      expect(await nameOf(imeiOf(1))).toBeUndefined()
      expect(await nameOf(VAN)).toBe('Van 12')
      expect(faults).toEqual([])
      await close()
    },
  )

  it('the page asks for the columns of a device list if none is recognised', async () => {
    const { page, faults, close } = await open()
    await drop(page, Buffer.from('Wer;Was\nB-WB 1;tracker-1\n'), 'odd.csv')
    await page.getByText('Choose the column that has the ids').waitFor()
    const apply = page.getByRole('button', { name: 'Apply', exact: true })
    expect(await apply.isDisabled()).toBe(true)
    await page.getByLabel('was').selectOption('device')
    await page.getByLabel('wer').selectOption({ label: 'Name or plate' })
    await page.locator('.change', { hasText: 'B-WB 1' }).waitFor()
    await page.getByLabel('Company').selectOption('8')
    await expect.poll(() => apply.isDisabled()).toBe(false)
    await apply.click()
    await page.getByText('In effect: 1 new, 0 changed.').waitFor()
    expect(await nameOf('tracker-1')).toBe('B-WB 1')
    expect(faults).toEqual([])
    await close()
  })

  it('the page says at once what is wrong with an unusable file, which can be discarded', async () => {
    const { page, close } = await open()
    await drop(page, Buffer.from('x'.repeat(5_000_000)), 'large.csv')
    await page.getByText('a file may have at most 4 MB').waitFor()
    await drop(page, Buffer.from('PK\u0003\u0004 no workbook'), 'night.xlsx')
    await page.getByText('the spreadsheet cannot be read').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.locator('main').getByText('Van 12').first().waitFor()
    await close()
  })

  it('the page applies a device list to the present roster, even if it has changed meanwhile', async () => {
    const { page, close } = await open()
    const list = `IMEI;Name;Courier\n${imeiOf(1)};B-WB 7;51\n${VAN};Van 12;43\n`
    await drop(page, Buffer.from(list), 'vans.csv')
    await page.locator('.change', { hasText: 'B-WB 7' }).waitFor()
    const headers = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'text/csv' }
    const url = `http://127.0.0.1:${fixture.product.ports.admin}/admin/devices?company_id=7`
    await fetch(url, { method: 'PUT', headers, body: `IMEI;Name\n${imeiOf(1)};Other\n` })
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.getByText('In effect: 0 new, 2 changed.').waitFor()
    expect(await nameOf(imeiOf(1))).toBe('B-WB 7')
    await close()
  })
})

async function drop(page: Page, bytes: Buffer, name: string): Promise<void> {
  await page.locator('.vans').waitFor()
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: bytes })
}

function figure(page: Page, name: string): Promise<string | null> {
  return page
    .locator('.put-counts li')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('.figure-value')
    .textContent()
}
