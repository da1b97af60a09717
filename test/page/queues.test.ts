import { afterAll, describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { AUTO_LISTENER, dial } from '../rig/product.ts'
import { webhookReceiver } from '../support/alerts.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'
import { freePorts } from '../support/free-ports.ts'

const VANS = ['356307042441013', '356307042441021', '356307042441039']
const DEVICES = Object.fromEntries(
  VANS.map((id, index) => [
    id,
    { name: `Van ${index + 1}`, company_id: 7, courier_id: 41 + index, route_id: 1001 + index },
  ]),
)
/** Pixels by which the page is wider than its window. */
const OVERHANG = 'document.documentElement.scrollWidth - innerWidth'
const refuse: Respond = status(422, '{"message":"position_in_the_sea"}', { 'content-type': 'application/json' })
const down: Respond = status(503)

/** A receiver of alerts that fails until the test says otherwise. */
async function failingReceiver() {
  const state = { status: 500 }
  const receiver = await webhookReceiver((response) => response.writeHead(state.status).end('no'))
  return { ...receiver, state }
}

describe.skipIf(!findChromium())('the queues in a real browser', async () => {
  const api = await startApi(refuse)
  afterAll(() => api.close())
  const receiver = await failingReceiver()
  afterAll(receiver.close)
  const [port] = await freePorts(1)
  const fixture = pageFixture(
    { 'devices.yaml': JSON.stringify(DEVICES) },
    `${AUTO_LISTENER.replace('port: 0', `port: ${port}`)}tracking: { base_url: "${api.url}", listen: { host: 127.0.0.1, port: 0 } }
alerts: { webhooks: [{ url: "${receiver.url}/canary-path-of-it" }] }\n`,
  )

  async function drive(id: string, fixes: number): Promise<void> {
    const line = await dial(fixture.product.ports['tcp/teltonika'])
    const packet = Array.from({ length: fixes }, (_, index) => ({
      time: Date.now() - 60_000 + index * 1000,
      latitude: 52.5 + index / 1000,
      longitude: 13.4,
      valid: true,
      speed: 10,
      heading: 90,
      satellites: 9,
    }))
    line.socket.write(Buffer.concat([teltonika.login!(id).bytes, teltonika.packet(packet, { id, serial: 1 }).bytes]))
    await expect.poll(() => line.answered().length).toBeGreaterThan(4)
    line.socket.destroy()
  }

  it('the queues say what to expect while nothing waits and nothing was refused', async () => {
    const { page, faults, close } = await fixture.open('/queues')
    await page.getByText('Nothing waits').waitFor()
    await page.getByText('Nothing was refused').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the arrivals say where to point a tracker while no unconfigured one has arrived', async () => {
    const { page, faults, close } = await fixture.open('/arrivals')
    await page.getByText(`Point a tracker at 127.0.0.1, port ${port}: it appears here`).waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
    await close()
  })

  it('the queues show what the tracking API refuses with its answer, and try it again', async () => {
    api.respond(refuse)
    await drive(VANS[0], 2)
    const { page, faults, close } = await fixture.open('/queues')
    await expect.poll(() => page.locator('.parked-lane').first().textContent()).toContain('position_in_the_sea')
    await expect.poll(() => page.locator('.parked-lane').first().textContent()).toContain('2 positions')
    await expectAccessible(page)
    let accepted = 0
    api.respond((push, response) => {
      accepted += push.timestamps.length
      ok(push, response)
    })
    await page.locator('.parked-lane').getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Nothing was refused').waitFor()
    await expect.poll(() => accepted).toBe(2)
    expect(faults).toEqual([])
    await close()
  })

  it('the queues delete refused positions only after a confirmation', async () => {
    api.respond(refuse)
    await drive(VANS[1], 1)
    const { page, close } = await fixture.open('/queues')
    const remove = page.locator('.parked-lane').getByRole('button', { name: 'Delete' })
    await remove.click()
    const dialog = page.getByRole('dialog', { name: 'Delete 1 position?' })
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await page.locator('.parked-lane').count()).toBe(1)
    await remove.click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 position is deleted.').waitFor()
    await page.getByText('Nothing was refused').waitFor()
    await close()
  })

  it('the queues list the waiting lanes, the fullest or the oldest first, with their last push', async () => {
    api.respond(down)
    await drive(VANS[2], 2)
    await drive(VANS[1], 5)
    const { page, faults, close } = await fixture.open('/queues')
    const rows = () => page.locator('.lanes-table tbody tr').evaluateAll((all) => all.map((row) => row.textContent))
    await expect.poll(rows).toEqual([expect.stringMatching(/^1002/), expect.stringMatching(/^1003/)])
    await page.getByRole('button', { name: 'Oldest first' }).click()
    await expect.poll(rows).toEqual([expect.stringMatching(/^1003/), expect.stringMatching(/^1002/)])
    expect(page.url()).toContain('sort=oldest')
    await expect.poll(async () => (await rows()).join(' ')).toContain('503')
    for (const [colorScheme, viewport] of [
      ['light', DESKTOP],
      ['dark', PHONE],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBe(0)
    }
    api.respond(ok)
    await page.getByText('Nothing waits').waitFor()
    expect(faults).toEqual([])
    await close()
  })
  it('the page says that something else answers in place of the API, and tests the connection', async () => {
    const html = { 'content-type': 'text/html' }
    api.respond(status(200, '<html>Log in to the network, please: now', html))
    await drive(VANS[2], 2)
    const { page, faults, close } = await fixture.open('/')
    await page.locator('.fact', { hasText: 'Something else answers in its place' }).waitFor()
    const finding = page.locator('.finding', { hasText: 'Something else answers in place of the tracking service' })
    await finding.getByText('Details for IT').click()
    await finding.getByText(`What answers at ${api.url} is not the tracking API`).waitFor()
    await page.getByText('it begins with: <html>Log in to the network, please: now').waitFor()
    expect(await page.getByText(/All well|is down|Accepts positions/).count()).toBe(0)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Test of the tracking service' })
    await dialog.getByText('what answers is not the tracking API: 200 text/html, begins with: <html>Log in').waitFor()
    await dialog.getByText('correct tracking.base_url (or push_url)').waitFor()
    for (const [colorScheme, viewport] of [
      ['light', DESKTOP],
      ['dark', PHONE],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      await expectAccessible(page)
      expect(await page.evaluate(OVERHANG)).toBe(0)
    }
    api.respond(ok)
    await dialog.getByRole('button', { name: 'Test again' }).click()
    await dialog.getByText('the apikey is accepted (200)').waitFor()
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(0)
    await page.locator('.fact', { hasText: 'Accepts positions' }).waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page sends a test to the alert receivers, and says which accepted it', async () => {
    const { page, faults, close } = await fixture.open('/')
    await page.getByRole('button', { name: 'Test alerts' }).click()
    const dialog = page.getByRole('dialog', { name: 'Test of the alerts' })
    await dialog.getByText(`alerts.webhooks[0] (${new URL(receiver.url).host})`).waitFor()
    await dialog.getByText('did not take the message').waitFor()
    await dialog.getByText('it answers 500: no').waitFor()
    expect(await dialog.textContent()).not.toContain('canary')
    await expectAccessible(page)
    await page.setViewportSize(PHONE)
    await expectAccessible(page)
    expect(await page.evaluate(OVERHANG)).toBe(0)
    receiver.state.status = 200
    await dialog.getByRole('button', { name: 'Test again' }).click()
    await dialog.getByText('took the message', { exact: true }).waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('the page tests the API in German', async () => {
    api.respond(status(403, '{"message":"no"}'))
    const { page, close } = await fixture.open('/', { locale: 'de-DE' })
    await page.getByRole('button', { name: 'Prüfen', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Prüfung des Tracking-Dienstes' })
    await dialog.getByText('der apikey wird abgelehnt: 403 no').waitFor()
    await dialog.getByText('den apikey der Firma 7 in gateway.yaml (companies) setzen').waitFor()
    api.respond(ok)
    await close()
  })

  it('the page names what an API refuses, and counts these positions as refused', async () => {
    api.respond(status(401))
    await drive(VANS[0], 3)
    const { page, faults, close } = await fixture.open('/')
    await page.getByText('Answers, and refuses the password of company 7').waitFor()
    expect(await page.getByText('Accepts positions').count()).toBe(0)
    // A finding may begin or end between two reads.
    const listed = async () => String(await page.locator('.finding').count())
    const badge = page.locator('.nav-link .badge').first()
    await expect.poll(async () => (await badge.textContent()) === (await listed())).toBe(true)
    await page.evaluate(`location.hash = '/vans/${VANS[0]}'`)
    await page.locator('.fact', { hasText: 'Refused' }).getByText('3', { exact: true }).waitFor()
    await page.evaluate("location.hash = '/queues'")
    await page.getByText('Nothing waits').waitFor()
    expect(faults).toEqual([])
    api.respond(ok)
    await close()
  })
})
