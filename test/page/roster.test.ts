import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { expectAccessible, findChromium, LOOKS, PHONE, pageFixture } from '../support/browser.ts'
import { sheetFiles, zip } from '../support/xlsx.ts'

const READER = 'reader-token-5b1d0e'
const OPERATOR = 'operator-token-77aa31'
const RIGHT_TO_LEFT = 'Van \u202Eright\u202C'
const idOf = (van: number) => `35630704244${String(1000 + van)}`
const DEVICES = Object.fromEntries([
  ...[1, 2, 3, 4, 5, 6].map((van) => [idOf(van), { name: `Van ${van}`, company_id: 7, courier_id: 40 + van }]),
  [idOf(7), { name: '<script>alert(1)</script>', company_id: 7, courier_id: 47, route_id: 1007 }],
  [idOf(8), { name: `Van ${'x'.repeat(296)}`, company_id: 7, courier_id: 48 }],
  [idOf(9), { name: RIGHT_TO_LEFT, company_id: 7, courier_id: 49 }],
])
const YAML = `
time_zone: UTC
admin:
  port: 0
  tokens: [{ name: dispatch, token: ${OPERATOR}, role: operate }, { name: reader, token: ${READER}, role: read }]
`
const today = () => new Date().toISOString().slice(0, 10)
const line = (van: number, route: number, day: string) => `Van ${van},,${route},${day} 00:00,${day} 24:00`
const HEADER = 'device,courier_id,route_id,from,until\n'
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'

describe.skipIf(!findChromium())('the roster in a real browser', () => {
  const fixture = pageFixture({ 'devices.yaml': JSON.stringify(DEVICES) }, YAML)
  /** Day that no other test changes. */
  const FUTURE = '2099-11-20'
  const NOON = `${FUTURE}T12:00:00Z`

  // The test does not run over midnight, when today becomes yesterday.
  beforeEach(() => expect.poll(() => new Date().toISOString()).not.toContain('T23:59'))

  const open = (view: string, options = {}) => fixture.open(view, { token: OPERATOR, ...options })

  function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'text/csv' }
    return fetch(`http://127.0.0.1:${fixture.product.ports.admin}${path}`, { headers, ...init })
  }

  async function put(day: string, lines: readonly string[]): Promise<void> {
    const query = `company_id=7&from=${day}&until=${new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)}`
    const answer = await ask(`/admin/routes?${query}&force=true`, { method: 'PUT', body: HEADER + lines.join('\n') })
    expect([answer.status, await answer.json()]).toMatchObject([200, { rejected: [] }])
  }

  /** Returns `Van 1 1001` for each line in effect at a time. */
  async function routesAt(at: string): Promise<string[]> {
    const answer = await ask(`/admin/routes?at=${encodeURIComponent(at)}`)
    const { results } = (await answer.json()) as { results: { name: string; route_id: string }[] }
    return results.map(({ name, route_id }) => `${name} ${route_id}`).toSorted()
  }

  describe('a roster file', () => {
    beforeEach(() =>
      put(
        FUTURE,
        [1, 2, 3, 4].map((van) => line(van, 1000 + van, FUTURE)),
      ),
    )
    const FILE = HEADER + [line(1, 1001, FUTURE), line(2, 2002, FUTURE), line(5, 1005, FUTURE)].join('\n')

    it('the page shows for each van what a roster file would change, names vans without a route, and asks first', async () => {
      const { page, faults, close } = await open('/roster')
      await page.locator('.timeline').waitFor()
      await choose(page, FILE)
      await page.locator('.change', { hasText: 'Van 5' }).waitFor()
      await expectAccessible(page)
      expect(await page.getByLabel('Replaces lines from').inputValue()).toBe(FUTURE)
      const changes = await page.locator('.change').evaluateAll((rows) => rows.map((row) => row.textContent))
      expect(changes).toEqual([
        expect.stringMatching(/^Van 3loses its route.*1003/),
        expect.stringMatching(/^Van 4loses its route.*1004/),
        expect.stringMatching(/^Van 2.*1002.*2002/),
        expect.stringMatching(/^Van 5.*1005/),
      ])
      await page.getByRole('button', { name: 'Apply…' }).click()
      const dialog = page.getByRole('dialog', { name: '2 vans lose their route' })
      await expectAccessible(page)
      expect(await dialog.locator('.losers').textContent()).toBe('Van 3route 1003Van 4route 1004')
      expect(await routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 1002', 'Van 3 1003', 'Van 4 1004'])
      await dialog.getByRole('button', { name: 'Take their routes' }).click()
      await page.getByText('Done: 1 added, 1 changed, 2 removed.').waitFor()
      expect(await routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 2002', 'Van 5 1005'])
      expect(faults).toEqual([])
      await close()
    })

    it('the page can change only the vans of a roster file, which takes no route from others and can be undone', async () => {
      const { page, faults, close } = await open('/roster')
      await page.locator('.timeline').waitFor()
      await choose(page, FILE)
      await page.getByRole('button', { name: 'Apply…' }).click()
      await page.getByRole('button', { name: 'Only change vans in the file' }).click()
      await expect.poll(() => figure(page, 'lose their route')).toBe('0')
      await page.getByRole('button', { name: 'Apply', exact: true }).click()
      await expect
        .poll(() => routesAt(NOON))
        .toEqual(['Van 1 1001', 'Van 2 2002', 'Van 3 1003', 'Van 4 1004', 'Van 5 1005'])

      // Waits for the put of this file, because the list shows the previous one until the page reads it again.
      const ofThisFile = page.locator('.writer', { hasText: '1 added, 1 changed, 0 removed' })
      await ofThisFile.getByRole('button', { name: 'Undo' }).click()
      const dialog = page.getByRole('dialog', { name: 'Take back what dispatch has sent' })
      await dialog.locator('.change', { hasText: 'Van 5' }).waitFor()
      await dialog.getByRole('button', { name: 'Undo anyway' }).click()
      await expect.poll(() => routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 1002', 'Van 3 1003', 'Van 4 1004'])
      await page.locator('.writer', { hasText: 'undone' }).waitFor()
      expect(faults).toEqual([])
      await close()
    })

    it('the page cannot undo a roster file from a list that is older than the last put, and says so', async () => {
      const { page, close } = await open('/roster')
      await page.locator('.writer').first().waitFor()
      await page.route('**/admin/roster', (route) => route.abort())
      await put(FUTURE, [line(1, 3001, FUTURE)])
      await page.locator('.writer').first().getByRole('button', { name: 'Undo' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('alert').getByText('later put').waitFor()
      expect(await dialog.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
      expect(await routesAt(NOON)).toEqual(['Van 1 3001'])
      await close()
    })

    it('the page shows the rejected lines of a dropped roster file, and applies the others', async () => {
      const { page, close } = await open('/roster')
      await page.locator('.timeline').waitFor()
      const text = `${HEADER}${[1, 2, 3, 4].map((van) => line(van, 1000 + van, FUTURE)).join('\n')}\n${line(99, 1, FUTURE)}\n${line(6, 1006, FUTURE)}`
      await page.evaluate(`{
        const transfer = new DataTransfer()
        transfer.items.add(new File([${JSON.stringify(text)}], 'night.csv'))
        for (const type of ['dragover', 'drop'])
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
      }`)
      await page.getByRole('heading', { name: 'night.csv' }).waitFor()
      await expect.poll(() => page.locator('.put .remarks').textContent()).toContain('Line 6')
      expect(await page.locator('.put .remarks').textContent()).toContain('Van 99')
      await page.getByRole('button', { name: 'Apply', exact: true }).click()
      await expect.poll(() => routesAt(NOON)).toContain('Van 6 1006')
      await expect.poll(() => page.locator('.writer').first().textContent()).toContain('Van 99')
      await close()
    })

    it('the page accepts a roster spreadsheet like CSV, but not one with macros', async () => {
      const lines = [1, 2, 3, 4, 6].map((van) => line(van, 1000 + van, FUTURE).split(','))
      const files = sheetFiles([HEADER.trim().split(','), ...lines])
      const { page, faults, close } = await open('/roster')
      await page.locator('.timeline').waitFor()
      await choose(page, zip({ ...files, 'xl/vbaProject.bin': 'macros' }), 'night.xlsx')
      await expect.poll(() => page.locator('.put').getByRole('alert').textContent()).toContain('macros')
      await choose(page, zip(files), 'night.xlsx')
      // Only the admin port reads spreadsheets, so the page does not know the day of this one.
      for (const label of ['Replaces lines from', 'to']) await page.getByLabel(label, { exact: true }).fill(FUTURE)
      await page.getByRole('button', { name: 'Apply', exact: true }).click()
      await expect.poll(() => routesAt(NOON)).toContain('Van 6 1006')
      expect(faults).toEqual([])
      await close()
    })

    it('a German page refuses an unreadable roster file in German', async () => {
      const { page, close } = await open('/roster', { locale: 'de-DE' })
      await page.locator('.timeline').waitFor()
      await choose(page, zip({ ...sheetFiles([]), 'xl/vbaProject.bin': 'macros' }), 'night.xlsx')
      await expect.poll(() => page.locator('.put').getByRole('alert').textContent()).toContain('die Tabelle hat Makros')
      await close()
    })

    it('the page says why a roster file is unreadable or too large, and changes nothing', async () => {
      const { page, faults, close } = await open('/roster')
      await page.locator('.timeline').waitFor()
      await choose(page, 'no,roster\n1,2\n', 'photo.csv')
      await expect.poll(() => page.locator('.put').getByRole('alert').textContent()).toContain('device')
      await choose(page, 'x'.repeat(5_000_000), 'large.csv')
      await expect.poll(() => page.locator('.put').getByRole('alert').textContent()).toContain('at most 4 MB')
      expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)
      expect(faults).toEqual([])
      await close()
    })

    it('the page only shows a roster file to a token that may only read', async () => {
      const { page, close } = await fixture.open('/roster', { token: READER })
      await page.locator('.timeline').waitFor()
      await choose(page, HEADER + [1, 2, 3, 4, 5].map((van) => line(van, 1000 + van, FUTURE)).join('\n'))
      const apply = page.getByRole('button', { name: 'Apply', exact: true })
      await expect.poll(() => apply.isDisabled()).toBe(true)
      expect(await apply.getAttribute('title')).toContain('You may only read')
      expect(await routesAt(NOON)).not.toContain('Van 5 1005')
      await close()
    })
  })

  it('the page swaps a van in two clicks, so that the other van has the route', async () => {
    await put(today(), [line(1, 1001, today()), line(2, 1002, today())])
    const { page, faults, close } = await open('/roster')
    await page.getByRole('button', { name: /^Van 1: 1001/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Who takes over from Van 1?' })
    await expectAccessible(page)
    await dialog.getByRole('button', { name: /^Van 5/ }).click()
    await page.getByRole('button', { name: /^Van 5: 1001/ }).waitFor()
    const now = new Date().toISOString()
    expect(await routesAt(now)).toEqual(['Van 2 1002', 'Van 5 1001'])
    expect(faults).toEqual([])
    await close()
  })

  it('the page says what else a swap does if the other van has a route of its own', async () => {
    await put(today(), [line(1, 1001, today()), line(2, 1002, today())])
    const { page, close } = await open('/roster')
    await page.getByRole('button', { name: /^Van 1: 1001/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Van 2/ })
      .click()
    await expect.poll(() => page.locator('.plan').textContent()).toContain('Van 2 leaves route 1002')
    expect(await routesAt(new Date().toISOString())).toEqual(['Van 1 1001', 'Van 2 1002'])
    await page.getByRole('button', { name: 'Do it anyway' }).click()
    await expect.poll(() => routesAt(new Date().toISOString())).toEqual(['Van 2 1001'])
    await close()
  })

  it('the page swaps two vans by dragging one bar onto another, in one step with one undo', async () => {
    await put(FUTURE, [line(1, 1001, FUTURE), line(2, 1002, FUTURE)])
    const { page, faults, close } = await open(`/roster?day=${FUTURE}`)
    await drag(
      page,
      page.getByRole('button', { name: /^Van 1: 1001/ }),
      page.getByRole('button', { name: /^Van 2: 1002/ }),
    )
    const dialog = page.getByRole('dialog', { name: 'Swap Van 1 and Van 2' })
    await expect
      .poll(() => dialog.locator('.plan').textContent())
      .toMatch(/Van 1 gets route 1002.*Van 2 gets route 1001/)
    await expectAccessible(page)
    expect(await routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 1002'])
    await dialog.getByRole('button', { name: 'Swap' }).click()
    await page.getByRole('button', { name: /^Van 2: 1001/ }).waitFor()
    expect(await routesAt(NOON)).toEqual(['Van 1 1002', 'Van 2 1001'])
    // The list of puts is updated a moment later.
    await page.reload()
    await page.getByRole('button', { name: 'Undo' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: /^Undo/ }).click()
    await expect.poll(() => routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 1002'])
    expect(faults).toEqual([])
    await close()
  })

  it('the page asks before a van that is dragged to a free van loses its route', async () => {
    await put(FUTURE, [line(1, 1001, FUTURE)])
    const { page, close } = await open(`/roster?day=${FUTURE}`)
    await drag(
      page,
      page.getByRole('button', { name: /^Van 1: 1001/ }),
      page.locator('.timeline-row', { hasText: 'Van 5' }),
    )
    const dialog = page.getByRole('dialog', { name: 'Swap Van 1 and Van 5' })
    await expect.poll(() => dialog.locator('.plan.is-warning').textContent()).toContain('Van 1 loses it then')
    await dialog.getByRole('button', { name: 'Do it anyway' }).click()
    await expect.poll(() => routesAt(NOON)).toEqual(['Van 5 1001'])
    await close()
  })

  it('the page ignores a drag that ends on its own van or with Escape, and a click still opens the dialog', async () => {
    await put(FUTURE, [line(1, 1001, FUTURE), line(2, 1002, FUTURE)])
    const { page, close } = await open(`/roster?day=${FUTURE}`)
    const bar = page.getByRole('button', { name: /^Van 1: 1001/ })
    await drag(page, bar, page.locator('.timeline-row', { hasText: 'Van 1' }).locator('.timeline-name'))
    expect(await page.getByRole('dialog').count()).toBe(0)
    const other = page.getByRole('button', { name: /^Van 2: 1002/ })
    await drag(page, bar, other, async () => {
      await page.locator('.stay.is-target').waitFor()
      await page.keyboard.press('Escape')
    })
    expect(await page.locator('.stay-ghost').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await bar.click()
    await page.getByRole('dialog', { name: 'Who takes over from Van 1?' }).waitFor()
    await close()
  })

  it('the page swaps vans from the dialog, without a mouse', async () => {
    await put(today(), [line(1, 1001, today()), line(2, 1002, today())])
    const { page, close } = await open('/roster', { viewport: PHONE })
    await page.getByRole('button', { name: /^Van 1: 1001/ }).press('Enter')
    await page.getByRole('button', { name: 'Swap', exact: true }).press('Enter')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Van 2/ })
      .press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Swap Van 1 and Van 2' })
    await expect.poll(() => dialog.locator('.plan').textContent()).toContain('Van 2 gets route 1001')
    expect(await page.evaluate(OVERHANG)).toBe(0)
    await dialog.getByRole('button', { name: 'Swap' }).press('Enter')
    await expect.poll(() => routesAt(new Date().toISOString())).toEqual(['Van 1 1002', 'Van 2 1001'])
    await close()
  })

  it('the page shows a token that may only read what a swap would do, but cannot do it', async () => {
    await put(FUTURE, [line(1, 1001, FUTURE), line(2, 1002, FUTURE)])
    const { page, close } = await fixture.open(`/roster?day=${FUTURE}`, { token: READER })
    await drag(
      page,
      page.getByRole('button', { name: /^Van 1: 1001/ }),
      page.getByRole('button', { name: /^Van 2: 1002/ }),
    )
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.locator('.plan').textContent()).toMatch(/Van 1 gets route 1002/)
    const swap = dialog.getByRole('button', { name: 'Swap' })
    expect(await swap.isDisabled()).toBe(true)
    expect(await swap.getAttribute('title')).toContain('You may only read')
    expect(await routesAt(NOON)).toEqual(['Van 1 1001', 'Van 2 1002'])
    await close()
  })

  it('the page shows changes of others without a reload, and marks two vans on one route', async () => {
    await put(today(), [line(1, 1001, today())])
    const { page, close } = await open('/roster')
    await page.getByRole('button', { name: /^Van 1: 1001/ }).waitFor()
    await put(today(), [line(1, 1001, today()), line(3, 1001, today())])
    await page.getByRole('button', { name: /^Van 3: 1001.*Also on this route: Van 1$/ }).waitFor()
    expect(await page.locator('.stay.is-shared').count()).toBe(2)
    await close()
  })

  it('the page names the route and the courier of a part of the day that is too short for a label', async () => {
    await put(FUTURE, [`Van 4,,5004,${FUTURE} 23:50,${FUTURE} 24:00`])
    const { page, close } = await open(`/roster?day=${FUTURE}`)
    await page.getByRole('button', { name: /^Van 4: 5004 courier 44 23:50–24:00/ }).waitFor()
    expect(await page.evaluate(OVERHANG)).toBe(0)
    await close()
  })

  it('the page shows another day, and finds a van by its route, from its URL', async () => {
    await put(FUTURE, [line(4, 5004, FUTURE)])
    const { page, faults, close } = await open(`/roster?day=${FUTURE}&q=5004`)
    await page.getByRole('button', { name: /^Van 4: 5004 courier 44 00:00–24:00/ }).waitFor()
    expect(await page.locator('.timeline-row').count()).toBe(1)
    await page.getByRole('button', { name: 'The next day' }).click()
    await page.getByText('No van is like this').waitFor()
    expect(page.url()).toContain('day=2099-11-21')
    expect(faults).toEqual([])
    await close()
  })

  it.each(LOOKS)(
    'axe finds no serious problem in the roster, and hostile names fit the window, %s, %o, %s',
    async (...how) => {
      const [colorScheme, viewport, locale] = how
      await put(today(), [line(1, 1001, today()), line(3, 1001, today())])
      const { page, faults, close } = await open('/roster', { colorScheme, viewport, locale })
      await page.locator('.stay').first().waitFor()
      await page.locator('.writer').first().waitFor()
      await expectAccessible(page)
      expect(await page.locator('.timeline').textContent()).toContain('<script>alert(1)</script>')
      expect(await page.evaluate(OVERHANG)).toBe(0)
      expect(faults).toEqual([])
      await close()
    },
  )
})

/** Drags with the mouse; `held` runs before the button is released. */
async function drag(page: Page, bar: Locator, onto: Locator, held?: () => Promise<void>): Promise<void> {
  const [from, to] = [await bar.boundingBox(), await onto.boundingBox()]
  await page.mouse.move(from!.x + 90, from!.y + from!.height / 2)
  await page.mouse.down()
  await page.mouse.move(from!.x + 100, from!.y + from!.height / 2 + 4)
  await page.mouse.move(to!.x + 90, to!.y + to!.height / 2, { steps: 4 })
  await held?.()
  await page.mouse.up()
}

function choose(page: Page, text: string | Buffer, name = 'new.csv'): Promise<void> {
  return page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}

function figure(page: Page, name: string): Promise<string | null> {
  return page.locator('.put-counts li', { hasText: name }).locator('.figure-value').textContent()
}
