import { createServer } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { DESKTOP, findChromium, pageFixture } from '../support/browser.ts'
import { listening } from '../support/listening.ts'

const OPERATOR = 'operator-token-90bb12'
const GUEST = 'guest-token-31fe77'
const ADMIN = (guest = '') =>
  `admin: { port: 0, tokens: [{ name: ops, token: ${OPERATOR} }, { name: guest, token: ${GUEST}${guest} }] }`

/** Starts an image server that counts its requests, and can be down. */
async function imageServer() {
  const asked: string[] = []
  const state = { isAway: false }
  const server = createServer((request, response) => {
    if (state.isAway) {
      request.socket.destroy()
      return
    }
    asked.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'image/png' }).end(PIXEL)
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  afterAll(() => server.close())
  return { url, asked, state }
}

describe.skipIf(!findChromium())('rough use of the page', async () => {
  const [tiles, other] = await Promise.all([imageServer(), imageServer()])
  const fixture = pageFixture(
    { 'devices.yaml': entryOf(1) },
    `${ADMIN()}\npage: { tiles: "${tiles.url}/{z}/{x}/{y}.png", attribution: "© <us>" }\n`,
  )
  const open = (view: string, token = OPERATOR) => fixture.open(view, { token, viewport: DESKTOP })

  function ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${fixture.product.ports.admin}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${OPERATOR}` },
    })
  }

  it('the page shows the tiles of the configured server, and can reach no other one', async () => {
    const { page, faults, close } = await open('/vans?show=map')
    await expect.poll(() => tiles.asked.length).toBeGreaterThan(0)
    expect(faults.filter((fault) => !fault.startsWith(`asks ${tiles.url}/`))).toEqual([])
    await page.evaluate(`new Image().src = '${other.url}/stolen.png'`)
    await page.evaluate(`fetch('${other.url}/stolen').catch(() => {})`)
    const refused = (url: string) => faults.filter((fault) => fault.includes('Content Security') && fault.includes(url))
    await expect.poll(() => refused(`${other.url}/stolen`).length).toBeGreaterThan(1)
    expect(other.asked).toEqual([])
    expect(await page.locator('.map-attribution').textContent()).toBe('© <us>')
    await close()
  })

  it('the page shows the built-in map while the tile server is down, and says so once', async () => {
    tiles.state.isAway = true
    const { page, close } = await open('/vans?show=map')
    const note = page.locator('.map-note')
    await note.waitFor()
    expect(await note.textContent()).toBe(
      `No map tiles come from ${new URL(tiles.url).host}. This is the built-in map.`,
    )
    await page.locator('.leaflet-tile-pane > canvas').waitFor()
    await page.locator('.leaflet-control-zoom-in').click()
    await expect.poll(() => note.count()).toBe(1)
    tiles.state.isAway = false
    await page.locator('.leaflet-control-zoom-in').click()
    await expect.poll(() => note.count()).toBe(0)
    await close()
  })

  it('the page is up to date again after a day of sleep and a restart of the admin process', async () => {
    const { page } = await open('/vans')
    await page.clock.install()
    await page.reload()
    await page.getByText('Van 1', { exact: true }).first().waitFor()
    await page.context().setOffline(true)
    const [pid] = fixture.product.pidsOf('admin')
    process.kill(pid, 'SIGKILL')
    await fixture.product.write('devices.yaml', entryOf(1) + entryOf(2))
    await expect
      .poll(async () => (await ask('/admin/devices')).json())
      .toMatchObject({ results: [{ name: 'Van 1' }, { name: 'Van 2' }] })
    await page.clock.fastForward('24:00:00')
    await page.context().setOffline(false)
    await page.getByText('Van 2', { exact: true }).first().waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    // The clock of this window stays a day ahead.
    await page.context().close()
  })

  it('the page asks for another token when its token expires while it is open', async () => {
    const { page, close } = await open('/', GUEST)
    await page.locator('.verdict h1').waitFor()
    const yaml = await fixture.product.read('gateway.yaml')
    await fixture.product.write('gateway.yaml', yaml.replace(ADMIN(), ADMIN(', expires: "2026-01-01T00:00:00Z"')))
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('expired')
    expect(await page.locator('.verdict').count()).toBe(0)
    await page.getByLabel('Token').fill(OPERATOR)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.verdict h1').waitFor()
    await close()
  })

  it('the page shows the present state by polling beyond 200 open pages', async () => {
    const ending = new AbortController()
    const streams = await Promise.all(
      Array.from({ length: 201 }, () => ask('/admin/events?topics=status', { signal: ending.signal })),
    )
    expect(streams.map(({ status }) => status)).toContain(503)
    const { page, close } = await open('/')
    process.kill(fixture.product.pidsOf('worker')[0], 'SIGSTOP')
    await page.locator('.finding a.mono').getByText('no_worker').waitFor({ state: 'attached' })
    const verdict = page.locator('.verdict h1', { hasText: 'Nothing is sent to the tracking service' })
    await verdict.waitFor()
    process.kill(fixture.product.pidsOf('worker')[0], 'SIGCONT')
    await verdict.waitFor({ state: 'detached' })
    ending.abort()
    await close()
  })
})

function entryOf(van: number): string {
  return `"35630704244${1000 + van}": { name: Van ${van}, company_id: 7, courier_id: ${40 + van}, route_id: ${1000 + van} }\n`
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
