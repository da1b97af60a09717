import { afterAll, beforeAll, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial, type Product, startProduct } from '../rig/product.ts'
import { waybridge } from '../support/cli.ts'

const NOW = Math.floor(Date.now() / 1000)
const IMEI = '356307042441013'
const soon = { timeout: 60_000, interval: 50 }
const inHours = (hours: number) => new Date((NOW + hours * 3600) * 1000).toISOString()
const ROUTES = `device,route_id,from,until\n${IMEI},101,${inHours(-1)},${inHours(1)}\n`

let product: Product

beforeAll(async () => {
  product = await startProduct({
    'devices.yaml': `"${IMEI}": { company_id: 7, courier_id: 1 }\n`,
    'routes.csv': ROUTES,
  })
})
afterAll(async () => void (await product.end()))

/** Sentence in the log of the process that reads the file, and evidence of the finding. */
const refusals = () => {
  const said = product
    .said()
    .split('\n')
    .filter((line) => line.includes(REFUSAL))
  return said.filter((line) => !line.includes('"reason":"config_refused"')).length
}
const REFUSAL = 'would take the route from the only device that has one now'

async function kill(role: string): Promise<void> {
  const [pid] = product.pidsOf(role)
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => product.pidsOf(role).filter((each) => each !== pid).length, soon).toBe(1)
}

/** Sends a fix until it is acknowledged. */
async function send(seconds: number): Promise<void> {
  const fix = { time: seconds * 1000, latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
  const bytes = [teltonika.login!(IMEI).bytes, teltonika.packet([fix], { id: IMEI, serial: 1 }).bytes]
  await expect
    .poll(async () => {
      const line = await dial(product.ports['tcp/teltonika']).catch(() => undefined)
      line?.socket.write(Buffer.concat(bytes))
      await expect.poll(() => !line || line.answered().length === 5 || line.closed(), soon).toBe(true)
      return line?.answered().toString('hex')
    }, soon)
    .toBe('0100000001')
}

it('a refused routes file stays refused when processes are killed and restarted', async () => {
  await product.write('routes.csv', '')
  await expect.poll(refusals, soon).toBe(1)
  for (const role of ['gateway', 'admin']) await kill(role)
  await expect.poll(refusals, soon).toBe(2)
  expect(product.said()).toContain('where the loss is meant, write the lines with `waybridge routes put FILE --force`')
  // The admin port opens a moment after the files were compared.
  const check = () => waybridge(['check', '--config', product.dir])
  const refused = expect.stringMatching(
    /^warning: .*\nroutes\.csv on \S+ is refused: .*; routes\.csv: would take the route/,
  )
  await expect.poll(check, soon).toMatchObject({ code: 1, out: refused })
  await send(NOW - 60)
  await expect.poll(() => product.positions('101', NOW - 60, NOW - 60).catch(() => []), soon).toHaveLength(1)
})

it('check says which settings of a running product need a restart', async () => {
  await product.write('routes.csv', ROUTES)
  const gateway = await product.read('gateway.yaml')
  const check = () => waybridge(['check', '--config', product.dir])
  await product.write('gateway.yaml', `${gateway}parked: { max_positions: 900000 }\n`)
  const { code, out } = await check()
  const restart = 'take effect at the next start only; parked.max_positions → start waybridge again'
  expect([code, out]).toEqual([0, expect.stringContaining(restart)])
  await product.write('gateway.yaml', gateway)
  expect(await check()).toMatchObject({ code: 0, out: expect.not.stringContaining('next start') })
})
