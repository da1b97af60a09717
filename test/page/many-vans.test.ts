import { describe, expect, it } from 'vitest'
import { findChromium, pageFixture } from '../support/browser.ts'

const VANS = 5000
/** Seconds during which frames are counted. */
const SECONDS = 5
const PER_SECOND = 2000

/**
 * What so many vans answer stands in for the admin port here: it is the drawing that is measured. Everything else in this folder runs
 * against a real one.
 */
describe.skipIf(!findChromium())('five thousand vans on the map', () => {
  const fixture = pageFixture({ 'devices.yaml': '"356307042441013": { name: Van 1, company_id: 7 }\n' })

  it('the map draws five thousand moving vans, and the table contains only the visible rows', async () => {
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
    await expect.poll(() => page.locator('.view-count').textContent()).toBe('5,000')
    expect(await page.locator('.van-table tbody tr').count()).toBeLessThan(60)
    const frames = await page.evaluate<number[]>(FRAMES)
    const map = page.locator('.map')
    await map.hover()
    await page.mouse.wheel(0, -300)
    const zoomed = await page.evaluate<number[]>(FRAMES)
    console.log(
      `5,000 vans: ${median(frames).toFixed(0)} ms a frame while they move, ${median(zoomed).toFixed(0)} ms after zooming`,
    )
    // A single frame may take longer on a busy machine.
    expect(median(frames)).toBeLessThan(700)
    expect(faults).toEqual([])
    await close()
  })

  it.each([1000, 5000])('the map draws %i vans that move each second as copies of cached images', async (vans) => {
    const { page, faults, close } = await fixture.open('/')
    await page.route('**/admin/devices?*', async (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('page_token') ?? 0)
      const results = Array.from({ length: 1000 }, (_, index) => townVan(from + index))
      await route.fulfill({ json: { results, next_page_token: from + 1000 < vans ? String(from + 1000) : undefined } })
    })
    await page.addInitScript(`(${moveVans})(${JSON.stringify(Array.from({ length: vans }, (_, n) => townVan(n)))})`)
    await page.reload()
    await page.evaluate("location.hash = '/vans?show=map'")
    await expect.poll(() => page.locator('.view-count').textContent()).toBe(vans.toLocaleString('en'))
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Performance.enable')
    const read = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics')
      const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
      const [frames, copied, drawn] = await page.evaluate<number[]>('[mapFrames, mapCopied, mapDrawn]')
      return { at: of('Timestamp'), busy: of('TaskDuration'), frames, copied, drawn }
    }
    await expect.poll(async () => (await read()).frames).toBeGreaterThan(30)
    const before = await read()
    await page.waitForTimeout(SECONDS * 1000)
    const after = await read()
    const seconds = after.at - before.at
    const times = (await page.evaluate<number[]>('mapTimes')).slice(before.frames)
    // In the rest of each second, no van moves by a pixel, and nothing is drawn.
    const gaps = times
      .slice(1)
      .map((time, n) => time - times[n])
      .filter((ms) => ms < 200)
    const framesPerS = (1000 * gaps.length) / gaps.reduce((one, other) => one + other, 0)
    const busy = Math.round((100 * (after.busy - before.busy)) / seconds)
    console.log(`${vans} vans: ${framesPerS.toFixed(0)} frames/s, main thread ${busy} % busy`)
    const copied = after.copied - before.copied
    expect(copied).toBeGreaterThan(1000)
    // Only clusters with another number are drawn again.
    expect(after.drawn - before.drawn).toBeLessThan(copied / 10)
    expect(faults).toEqual([])
    await close()
  })

  it('the map zooms in to a cluster by click and by Enter, and draws nothing while no van moves', async () => {
    const { page, faults, close } = await fixture.open('/')
    await page.route('**/admin/devices?*', (route) =>
      route.fulfill({ json: { results: Array.from({ length: 50 }, (_, n) => ({ ...van(n % 2, 0), id: String(n) })) } }),
    )
    await page.addInitScript(`(${moveVans})([])`)
    await page.reload()
    await page.evaluate("location.hash = '/vans?show=map'")
    await expect.poll(() => page.locator('.view-count').textContent()).toBe('50')
    const scale = page.locator('.leaflet-control-scale-line')
    const whole = await scale.textContent()
    const map = page.locator('.map')
    // Zooms out until both places are one cluster at the centre of the map.
    for (let n = 0; n < 7; n++) await page.locator('.leaflet-control-zoom-out').click()
    const far = await scale.textContent()
    expect(far).not.toBe(whole)
    const { width, height } = (await map.boundingBox())!
    await map.click({ position: { x: width / 2, y: height / 2 } })
    await expect.poll(() => scale.textContent()).not.toBe(far)
    const near = await scale.textContent()
    await map.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => scale.textContent()).not.toBe(near)
    await page.waitForTimeout(1500)
    const frames = await page.evaluate<number>('mapFrames')
    await page.waitForTimeout(2000)
    expect(await page.evaluate<number>('mapFrames')).toBe(frames)
    expect(faults).toEqual([])
    await close()
  })
})

/** Returns a van in a town that drives about ten pixels of the map per second. */
function townVan(index: number) {
  const result = van(index, 0)
  const [lat, lon] = [52 + ((index * 37) % 997) / 2000, 13 + ((index * 61) % 991) / 1000]
  return { ...result, position: { ...result.position, lat, lon } }
}

/** Runs in the page: an event stream moves all vans each second; counts the frames of the canvas. */
const moveVans = `(vans) => {
  globalThis.mapFrames = 0
  globalThis.mapCopied = 0
  globalThis.mapDrawn = 0
  const counts = []
  globalThis.mapTimes = counts
  const { arc, drawImage } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.drawImage = function (...args) {
    if (counts === globalThis.mapTimes) mapCopied++
    return drawImage.apply(this, args)
  }
  CanvasRenderingContext2D.prototype.arc = function (...args) {
    if (counts === globalThis.mapTimes) mapDrawn++
    return arc.apply(this, args)
  }
  const clear = CanvasRenderingContext2D.prototype.clearRect
  CanvasRenderingContext2D.prototype.clearRect = function (...args) {
    // Scripts of earlier tests in this window run too, so only the last one counts.
    if (counts === globalThis.mapTimes && this.canvas === [...document.querySelectorAll('.map canvas')].at(-1)) {
      mapFrames++
      counts.push(performance.now())
    }
    return clear.apply(this, args)
  }
  const ask = globalThis.fetch
  globalThis.fetch = (input, init) => {
    if (!String(input.url ?? input).includes('/admin/events')) return ask(input, init)
    let second = 0
    const body = new ReadableStream({
      start(controller) {
        const timer = setInterval(() => {
          second++
          for (const { position } of vans) {
            position.lat += Math.cos(position.heading) * 0.01
            position.lon += Math.sin(position.heading) * 0.02
          }
          const text = 'id: ' + second + '\\nevent: device\\ndata: ' + JSON.stringify({ results: vans }) + '\\n\\n'
          controller.enqueue(new TextEncoder().encode(text))
        }, 1000)
        init?.signal?.addEventListener('abort', () => clearInterval(timer))
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
}`

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

/** Returns the times between at least five frames within two seconds, ms. */
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
