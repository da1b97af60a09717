import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import teltonika from '../../protocols/teltonika/index.ts'
import { teltonika as speech } from '../../src/sandbox/speak/teltonika.ts'
import { dial } from '../rig/product.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'
import { until } from '../support/listen.ts'
import { openOldServer } from '../support/old-server.ts'

const VAN = '356307042441013'
const DEVICES = { [VAN]: { name: 'Van 12', company_id: 7, courier_id: 42, route_id: 1001, model: 'FMB920' } }

describe.skipIf(!findChromium())('the trial in a real browser', async () => {
  /** Old server that accepts no login. */
  const old = await openOldServer(teltonika, { answer: (bytes) => (bytes.length === 1 ? Buffer.from([7]) : bytes) })
  afterAll(() => old.stop())
  const trial = `trial: { host: 127.0.0.1, port: ${old.port} }`
  const fixture = pageFixture(
    { 'devices.yaml': JSON.stringify(DEVICES) },
    `  - { transport: tcp, protocol: teltonika, port: 0, host: 127.0.0.1, ${trial} }\n`,
  )

  beforeAll(async () => {
    const line = await dial(fixture.product.ports['tcp/teltonika#2'])
    line.socket.write(speech.login!(VAN).bytes)
    await until(() => expect(line.answered().length).toBe(1))
    const fix = { time: Date.now() - 1000, latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
    line.socket.write(speech.packet([fix], { id: VAN, serial: 1 }).bytes)
    await until(() => expect(line.answered().length).toBe(5))
    line.socket.destroy()
  })

  it.each([DESKTOP, PHONE])(
    'the trial shows the verdict and the first difference at $width pixels',
    async (viewport) => {
      const { page, faults, close } = await fixture.open('/trial', { viewport })
      await page.getByText('1 of 1 devices understood, 50 % of answers equal, 1 device differs: look').waitFor()
      await page.getByText('First difference').click()
      await page.getByText('The old server answered').waitFor()
      await expectAccessible(page)
      expect(faults).toEqual([])
      await close()
    },
  )

  it('the trial is shown in German', async () => {
    const { page, close } = await fixture.open('/trial', { locale: 'de-DE' })
    await page.getByText('1 von 1 Geräten verstanden').waitFor()
    await page.getByRole('link', { name: 'Probebetrieb' }).waitFor()
    await close()
  })

  it('the trial switches a device off and on, and keeps the rest of its entry', async () => {
    const { page, faults, close } = await fixture.open('/trial')
    const entry = () => fixture.product.admin<Record<string, unknown>>(`/admin/devices/${VAN}`)
    await page.getByRole('button', { name: 'Switch to waybridge' }).click()
    await page.getByRole('button', { name: 'Feed the old server' }).click()
    await page.getByRole('button', { name: 'Feed it no more' }).waitFor()
    expect(await entry()).toMatchObject({
      ...DEVICES[VAN],
      company_id: '7',
      courier_id: '42',
      route_id: '1001',
      trial: 'off',
      feed: true,
    })
    await page.getByRole('button', { name: 'Back to the old server' }).click()
    await page.getByRole('button', { name: 'Switch to waybridge' }).waitFor()
    expect(await entry()).toMatchObject({ name: 'Van 12', trial: 'on' })
    expect(faults).toEqual([])
    await close()
  })
})
