import { describe, expect, it } from 'vitest'
import { findChromium, pageFixture } from '../support/browser.ts'

const VANS = 5000
const PER_SECOND = 2000

/**
 * What so many vans answer stands in for the admin port here: it is the drawing that is measured. Everything else in this folder runs
 * against a real one.
 */
describe.skipIf(!findChromium())('five thousand vans on the map', () => {
  const fixture = pageFixture({ 'devices.yaml': '"356307042441013": { name: Van 1, company_id: 7 }\n' })

  it('are drawn while they move, and only the rows in view are in the table', async () => {
    const { page, faults, close } = await fixture.open('/')
    await page.route('**/admin/devices?*', async (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('page_token') ?? 0)
      const results = Array.from({ length: 1000 }, (_, index) => van(from + index, 0))
      await route.fulfill({ json: { results, next_page_token: from + 1000 < VANS ? String(from + 1000) : undefined } })
    })
    await page.route('**/admin/events?*', (route) => {
      const body = Array.from({ length: 20 }, (_, second) => eventOf(second)).join('')
      return route.fulfill({ body, contentType: 'text/event-stream' })
    })
    await page.evaluate("location.hash = '/vans'")
    await expect.poll(() => page.locator('.view-count').textContent(), { timeout: 60_000 }).toBe('5,000')
    expect(await page.locator('.van-table tbody tr').count()).toBeLessThan(60)
    const frames = await page.evaluate<number[]>(FRAMES)
    const map = page.locator('.map')
    await map.hover()
    await page.mouse.wheel(0, -300)
    const zoomed = await page.evaluate<number[]>(FRAMES)
    console.log(
      `5,000 vans: ${median(frames).toFixed(0)} ms a frame while they move, ${median(zoomed).toFixed(0)} ms after zooming`,
    )
    // One may take longer on a machine that is busy.
    expect(median(frames)).toBeLessThan(700)
    expect(faults).toEqual([])
    await close()
  })
})

function van(index: number, second: number) {
  const [lat, lon] = [45 + (index % 71) / 7 + second / 500, 1 + (index % 97) / 6 + second / 500]
  const position = { at: new Date().toISOString(), lat, lon, speed: 12, heading: (index * 7) % 360 }
  const id = String(index)
  return { id, name: `Van ${id}`, configured: true, mapping: 'mapped', condition: 'moving', position, findings: [] }
}

function eventOf(second: number): string {
  const results = Array.from({ length: PER_SECOND }, (_, index) => van(index, second))
  return `id: ${second}\nevent: device\ndata: ${JSON.stringify({ results })}\n\n`
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

/** The times between frames in two seconds, of five at least, ms. */
const FRAMES = `new Promise((resolve) => {
  const frames = []
  const from = performance.now()
  let last = from
  const next = (now) => {
    frames.push(now - last)
    last = now
    if (now - from < 2000 || frames.length < 5) requestAnimationFrame(next)
    else resolve(frames)
  }
  requestAnimationFrame(next)
})`
