import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium, pageFixture } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { pmtiles, tileAt, vectorTile } from '../support/tiles.ts'

const [LAT, LON] = [52.66, 12.36]
const VAN = '"356307042441013": { name: Van 1, company_id: 7 }\n'
/** Highest zoom of these tiles, which the map enlarges beyond it. */
const LAST_ZOOM = 11
/** Zoom of the tiles that the map shows first. */
const SHOWN_ZOOM = 13

/** Returns tiles that are all water or wood, with a place and a street around the van. */
function tile(place: string, ground: 'water' | 'wood', name: string): Buffer {
  const everywhere = [
    [-10, -10],
    [4106, -10],
    [4106, 4106],
    [-10, 4106],
  ] as const
  const area = { type: 'area', points: everywhere } as const
  const isAround = place === tileAt(Number(place.split('/')[0]), LAT, LON)
  const tags = { kind: 'city', name, 'name:de': `${name} auf Deutsch` }
  const street = { kind: 'major_road', name: `${name} Street` }
  return vectorTile({
    water: ground === 'water' ? [{ ...area, tags: { kind: 'ocean' } }] : [],
    landuse: ground === 'wood' ? [{ ...area, tags: { kind: 'wood' } }] : [],
    places: isAround ? [{ tags, type: 'point', points: [[2048, 2048]] }] : [],
    roads: isAround
      ? [
          {
            tags: street,
            type: 'line',
            points: [
              [0, 1000],
              [4096, 1000],
            ],
          },
        ]
      : [],
  })
}

/** All tiles down to zoom 5, and below those around the van and their neighbours. */
function tiles(ground: 'water' | 'wood', name: string): Map<string, Buffer> {
  const places = ['0/0/0']
  for (let zoom = 1; zoom <= LAST_ZOOM; zoom++) {
    const [, column, row] = tileAt(zoom, LAT, LON).split('/').map(Number)
    for (let x = column - 4; x <= column + 4; x++)
      for (let y = row - 4; y <= row + 4; y++)
        if (Math.min(x, y) >= 0 && Math.max(x, y) < 2 ** zoom) places.push([zoom, x, y].join('/'))
  }
  return new Map(places.map((place) => [place, tile(place, ground, name)]))
}

/** Shows one van on the map. */
async function showMap(page: Page): Promise<void> {
  const position = { at: new Date().toISOString(), lat: LAT, lon: LON, speed: 12, heading: 40 }
  const van = {
    id: '1',
    name: 'Van 1',
    configured: true,
    mapping: 'mapped',
    condition: 'moving',
    position,
    findings: [],
  }
  await page.route('**/admin/devices?*', (route) => route.fulfill({ json: { results: [van] } }))
  await page.addInitScript(NAMES)
  await page.reload()
  await page.evaluate("location.hash = '/vans?show=map'")
}

/** Runs in the page: records all texts drawn on a canvas. */
const NAMES = `globalThis.written = new Set()
const { fillText } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  globalThis.written.add(text)
  return fillText.call(this, text, ...rest)
}`

const written = (page: Page) => page.evaluate<string[]>('[...globalThis.written]')

/** Returns the colours at the middle of all tiles on the map, and the expected ones. */
function coloursOf(page: Page): Promise<{ shown: string[]; water: string; green: string }> {
  return page.evaluate(`(() => {
    const hex = (numbers) => '#' + [...numbers].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('')
    const shown = [...document.querySelectorAll('.leaflet-tile-container canvas')].map((canvas) =>
      hex(canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data))
    const style = getComputedStyle(document.documentElement)
    const of = (name) => style.getPropertyValue(name).trim()
    return { shown: [...new Set(shown)], water: of('--map-water'), green: of('--map-green') }
  })()`)
}

const isAll = async (page: Page, colour: 'water' | 'green') => {
  const { shown, ...known } = await coloursOf(page)
  return shown.length === 1 && shown[0] === known[colour]
}

const note = (page: Page) => page.locator('.map-note')
const attribution = (page: Page) => page.locator('.map-attribution')
const BUILT_IN = 'Natural Earth · GeoNames, CC BY 4.0'
/** Attribution with hostile markup. */
const SAID = `<a href="https://osm.example/copyright" onclick="globalThis.isRun = 1">&copy; OpenStreetMap contributors</a>,
  <a href="javascript:globalThis.isRun = 1">by</a> <b style="color: red">us</b>
  <script>globalThis.isRun = 1</script><img src="/stolen" onerror="globalThis.isRun = 1">`

describe.skipIf(!findChromium())('a PMTiles file on disk', () => {
  const fixture = pageFixture({ 'devices.yaml': VAN }, 'page: { tiles: town.pmtiles }\n')
  const put = (bytes: Buffer) => fixture.product.write('town.pmtiles', bytes)
  beforeAll(() => put(pmtiles(tiles('water', 'Watertown'), { attribution: SAID })))

  function ask(headers: Record<string, string>): Promise<Response> {
    return fetch(`http://127.0.0.1:${fixture.product.ports.admin}/map.pmtiles`, { headers })
  }

  it('the map draws a PMTiles file in the light and dark colours of the page, with names', async () => {
    const { page, faults, close } = await fixture.open('/')
    await showMap(page)
    await expect.poll(() => isAll(page, 'water')).toBe(true)
    await expect.poll(() => written(page)).toContain('Watertown')
    expect(await written(page)).not.toContain('Watertown auf Deutsch')
    const light = await coloursOf(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => isAll(page, 'water')).toBe(true)
    expect((await coloursOf(page)).shown).not.toEqual(light.shown)
    expect(await written(page)).toContain('Watertown Street')
    expect([await note(page).count(), faults]).toEqual([0, []])
    await close()
  })

  it('the map shows only the text and the links of the attribution of a PMTiles file', async () => {
    const { page, faults, close } = await fixture.open('/')
    await showMap(page)
    await attribution(page).waitFor()
    expect(await attribution(page).textContent()).toBe('© OpenStreetMap contributors, by us ')
    const links = await attribution(page)
      .locator('a')
      .evaluateAll((all) => all.map((link) => link.outerHTML))
    expect(links).toEqual([
      '<a href="https://osm.example/copyright" target="_blank" rel="noopener noreferrer">© OpenStreetMap contributors</a>',
    ])
    expect(await attribution(page).locator('*:not(a)').count()).toBe(0)
    expect(await page.evaluate('globalThis.isRun')).toBeUndefined()
    expect(faults).toEqual([])
    await close()
  })

  it('the map shows the names of a PMTiles file in the language of the page', async () => {
    const { page, close } = await fixture.open('/', { locale: 'de-DE' })
    await showMap(page)
    await expect.poll(() => written(page)).toContain('Watertown auf Deutsch')
    expect(await written(page)).not.toContain('Watertown')
    await close()
  })

  it('the map continues when its PMTiles file is replaced, or missing for a time', async () => {
    const { page, faults, close } = await fixture.open('/')
    await showMap(page)
    await expect.poll(() => isAll(page, 'water')).toBe(true)
    await put(pmtiles(tiles('wood', 'A much longer name of a wood')))
    const out = page.locator('.leaflet-control-zoom-out')
    // Zooms to tiles that the page does not have yet.
    for (let zoom = SHOWN_ZOOM; zoom >= LAST_ZOOM; zoom--) await out.click()
    await expect.poll(() => isAll(page, 'green')).toBe(true)
    await put(Buffer.from('no archive'))
    await out.click()
    await note(page).waitFor()
    await put(pmtiles(tiles('water', 'Watertown')))
    await out.click()
    await expect.poll(() => isAll(page, 'water')).toBe(true)
    expect([await note(page).count(), faults]).toEqual([0, []])
    await close()
  })

  it('the admin port serves a PMTiles file only with a token, and only in parts', async () => {
    const bytes = pmtiles(tiles('water', 'Watertown'))
    await put(bytes)
    const authorization = `Bearer ${fixture.token}`
    const part = await ask({ authorization, range: 'bytes=100-131' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-131/${bytes.length}`])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 132))
    const end = await ask({ authorization, range: `bytes=${bytes.length - 2}-${bytes.length + 1000}` })
    expect([end.status, Buffer.from(await end.arrayBuffer())]).toEqual([206, bytes.subarray(-2)])
    expect((await ask({ range: 'bytes=0-10' })).status).toBe(401)
    const refused = [
      undefined,
      'bytes=-5',
      `bytes=${bytes.length}-`,
      `bytes=${bytes.length}-${bytes.length}`,
      'bytes=5-4',
    ]
    for (const range of [...refused, 'bytes=0-1,4-5']) {
      const answer = await ask({ authorization, ...(range && { range }) })
      expect([range, answer.status, answer.headers.get('content-range')]).toEqual([
        range,
        416,
        `bytes */${bytes.length}`,
      ])
    }
  })
})

const TILE_JSON = { tilejson: '3.0.0', tiles: ['/{z}/{x}/{y}.pbf'], attribution: '© Mappers' }

describe.skipIf(!findChromium())('a server of vector tiles', async () => {
  const asked: string[] = []
  const state = { isAway: false, all: tiles('water', 'Watertown') }
  const server = createServer((request, response) => {
    if (state.isAway) {
      request.socket.destroy()
      return
    }
    asked.push(request.url ?? '')
    if (request.url === '/tiles.json') {
      response.writeHead(200, { 'access-control-allow-origin': '*' }).end(JSON.stringify(TILE_JSON))
      return
    }
    const bytes = state.all.get(/^\/(.*)\.pbf$/.exec(request.url ?? '')?.[1] ?? '')
    response.writeHead(bytes ? 200 : 404, { 'access-control-allow-origin': '*' }).end(bytes)
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  afterAll(() => server.close())
  const fixture = pageFixture({ 'devices.yaml': VAN }, `page: { tiles: "${url}/{z}/{x}/{y}.pbf" }\n`)

  it('the page requests the TileJSON of a tile server once, and shows its attribution', async () => {
    const { page, close } = await fixture.open('/')
    await showMap(page)
    await attribution(page).waitFor()
    expect(await attribution(page).textContent()).toBe('© Mappers')
    await page.evaluate("location.hash = '/vans'")
    await attribution(page).waitFor()
    expect(asked.filter((path) => path === '/tiles.json')).toHaveLength(1)
    await close()
  })

  it('the page sends requests only to the tile server, and enlarges its most detailed tiles', async () => {
    const { page, faults, close } = await fixture.open('/')
    await showMap(page)
    await expect.poll(() => isAll(page, 'water')).toBe(true)
    // The map shows zoom 14, for which the server has no tiles.
    expect(asked.some((path) => path.startsWith('/13/'))).toBe(true)
    expect(await written(page)).toContain('Watertown Street')
    expect(faults.filter((fault) => !fault.startsWith(`asks ${url}/`))).toEqual([])
    await page.evaluate(`fetch('${url.replace('127.0.0.1', 'localhost')}/stolen').catch(() => {})`)
    await expect.poll(() => faults.some((fault) => fault.includes('Content Security'))).toBe(true)
    await close()
  })

  it('the page shows the built-in map while the tile server is down, says so once, and then shows tiles again', async () => {
    state.isAway = true
    const { page, close } = await fixture.open('/', { locale: 'de-DE' })
    await showMap(page)
    await note(page).waitFor()
    expect(await note(page).textContent()).toBe(
      `Von ${new URL(url).host} kommen keine Kartenkacheln. Das ist die eingebaute Karte.`,
    )
    const out = page.locator('.leaflet-control-zoom-out')
    for (let zoom = SHOWN_ZOOM; zoom >= LAST_ZOOM; zoom--) await out.click()
    await expect.poll(() => written(page)).toContain('Rathenow')
    await expect.poll(() => note(page).count()).toBe(1)
    expect(await attribution(page).textContent()).toBe(BUILT_IN)
    const box = (await page.locator('.map').boundingBox())!
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
    await page.locator('.van-card').waitFor()
    state.isAway = false
    await out.click()
    await expect.poll(() => note(page).count()).toBe(0)
    await expect.poll(() => written(page)).toContain('Watertown auf Deutsch')
    await expect.poll(() => attribution(page).textContent()).toBe(`© Mappers · ${BUILT_IN}`)
    await close()
  })
})
