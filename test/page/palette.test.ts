import { describe, expect, it } from 'vitest'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const VANS = Array.from({ length: 12 }, (_, n) => ({ id: `3563070424410${n + 10}`, name: `Van ${n + 1}` }))
const DEVICES = JSON.stringify(
  Object.fromEntries(
    VANS.map(({ id, name }, n) => [id, { name, company_id: 7, courier_id: 41 + n, route_id: 1001 + n }]),
  ),
)
const READER = 'canary-reader'
/** Pixels by which the page, or its view, is wider than its place. */
const OVERHANG =
  "Math.max(...[document.documentElement, document.querySelector('main')].map((e) => e.scrollWidth - e.clientWidth))"

describe.skipIf(!findChromium())('the palette and the limits of a read token', () => {
  const fixture = pageFixture(
    { 'devices.yaml': DEVICES },
    `admin: { port: 0, tokens: [canary-of-all, { token: ${READER}, name: Eva, role: read }] }\n`,
  )
  const open = (view: string, token = 'canary-of-all', viewport = DESKTOP) => fixture.open(view, { token, viewport })

  it('the palette finds a van in any view, and Enter opens the only hit, even before the vans are loaded', async () => {
    for (const view of ['/', '/vans', '/roster', '/activity']) {
      const { page, faults, close } = await open(view)
      await page.locator('main h1').first().waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('van 12')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Van 12' }).waitFor()
      expect(await page.locator('dialog').count()).toBe(0)
      expect(faults).toEqual([])
      await close()
    }
  })

  it('the palette finds routes, views and actions, with arrows for the next hit and Escape to close', async () => {
    const { page, faults, close } = await open('/')
    await page.locator('.verdict h1').waitFor()
    await page.keyboard.press('/')
    const hits = () => page.locator('.palette-text').allTextContents()
    await expect.poll(hits).toContain('Queues')
    await page.keyboard.type('1005')
    await expect.poll(hits).toEqual(['Van 5', 'Route 1005'])
    await expectAccessible(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain('#/roster?q=1005')
    await page.keyboard.press('/')
    await page.keyboard.type('queues')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing was refused').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('van 1')
    await expect.poll(async () => (await hits())[0]).toBe('Van 1')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    expect(page.url()).toContain('#/queues')
    expect(faults).toEqual([])
    await close()
  })

  it('the palette does not open for / in a field, and ignores Enter without a hit', async () => {
    const { page, close } = await open('/vans')
    await page.getByRole('searchbox').fill('a')
    await page.getByRole('searchbox').press('/')
    expect(await page.getByRole('searchbox').inputValue()).toBe('a/')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.keyboard.type('nothing like this')
    await page.getByText('Nothing is like this').waitFor()
    await page.keyboard.press('Enter')
    expect(await page.locator('dialog').count()).toBe(1)
    await close()
  })

  it('the page disables forbidden actions for a read token, and says why', async () => {
    const { page, faults, close } = await open(`/vans/${VANS[0].id}`, READER)
    await page.getByText('May only read').first().waitFor()
    for (const name of ['Change route', 'Edit', 'Watch for 15 minutes']) {
      const button = page.getByRole('button', { name })
      await expect.poll(() => button.isDisabled()).toBe(true)
      expect(await button.getAttribute('title')).toBe('You may only read: that needs the role operate.')
    }
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })

  it('the page disables nothing for a token with the role operate', async () => {
    const { page, close } = await open(`/vans/${VANS[0].id}`)
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(await page.getByRole('button', { name: 'Edit' }).isEnabled()).toBe(true)
    expect(await page.getByText('May only read').count()).toBe(0)
    await close()
  })

  it.each(['/', '/vans', '/roster', '/arrivals', '/queues', '/activity', `/vans/${VANS[0].id}`])(
    'the view %s does not scroll sideways on a phone',
    async (view) => {
      const { page, close } = await open(view, READER, PHONE)
      await page.locator('main h1').first().waitFor()
      await expect.poll(() => page.locator('.loading').count()).toBe(0)
      expect(await page.evaluate(OVERHANG)).toBeLessThanOrEqual(0)
      await close()
    },
  )
})
