import { describe, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial, type Product } from '../rig/product.ts'
import { NOWHERE } from '../support/admin.ts'
import { DESKTOP, expectAccessible, findChromium, PHONE, pageFixture } from '../support/browser.ts'

const VAN = '356307042441047'

async function send({ ports }: Product) {
  const line = await dial(ports['tcp/teltonika'])
  const fix = { time: Date.now(), latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9 }
  line.socket.write(Buffer.concat([teltonika.login!(VAN).bytes, teltonika.packet([fix], { id: VAN, serial: 1 }).bytes]))
  return line
}

describe.skipIf(!findChromium())('the page of a new installation', () => {
  const fixture = pageFixture({}, 'companies:\n')

  it('the page of a new installation proposes a name and a route for the first van', async () => {
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
    line.socket.write(
      Buffer.concat([teltonika.login!(VAN).bytes, teltonika.packet([fix], { id: VAN, serial: 1 }).bytes]),
    )
    const { page, faults, close } = await fixture.open('/arrivals', { viewport: PHONE })
    await page.getByRole('button', { name: 'Name it' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.getByLabel('Company').inputValue()).toBe('1')
    await dialog.getByLabel('Name').fill('Van 1')
    await dialog.getByLabel('Route').fill('1001')
    // A route without a courier has no effect.
    await expect.poll(() => dialog.getByLabel('Courier').getAttribute('required')).toBe('')
    await dialog.getByLabel('Courier').fill('42')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    const delivered = async () =>
      (await fixture.product.admin<{ custody: { delivered: number } }>('/admin/status')).custody.delivered
    await expect.poll(delivered).toBe(1)
    line.socket.destroy()
    expect(faults).toEqual([])
    await close()
  })
})

describe.skipIf(!findChromium())('the page of an installation without a company', () => {
  const fixture = pageFixture({}, `companies:\ntracking: { base_url: "${NOWHERE}" }\n`)

  it('the page without a company says where to configure one, and offers it a second later', async () => {
    const line = await send(fixture.product)
    const { page, close } = await fixture.open('/arrivals', { viewport: DESKTOP })
    await page.getByRole('button', { name: 'Name it' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('No company is configured.').waitFor()
    await expectAccessible(page)
    const text = await fixture.product.read('gateway.yaml')
    await fixture.product.write('gateway.yaml', text.replace('companies:', 'companies: [{ company_id: 7, apikey: k }]'))
    await expect.poll(() => dialog.getByLabel('Company').inputValue()).toBe('7')
    line.socket.destroy()
    await close()
  })
})
