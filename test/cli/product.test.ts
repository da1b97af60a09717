import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { dial, type Product, startProduct } from '../rig/product.ts'
import { type Ended, waybridge } from '../support/cli.ts'

const NOW = Math.floor(Date.now() / 1000)
const [DELIVERED, UNKNOWN] = ['356307042441013', '356307042441099']
const soon = { timeout: 30_000, interval: 200 }
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
const HOUR = `${iso(NOW - 3600)},${iso(NOW + 3600)}`
const DEVICES = `
"${DELIVERED}": { name: Van 12, company_id: 7, courier_id: 42 }
"356307042441021": { name: Van 14, company_id: 7, courier_id: 43 }
"356307042441039": { name: Van 31, company_id: 7 }
`
const ROUTES = `device,courier_id,route_id,from,until
Van 12,,1002,${HOUR}
Van 14,,1007,${HOUR}
Van 31,44,1003,${HOUR}
`

let product: Product

beforeAll(async () => {
  product = await startProduct({ 'devices.yaml': DEVICES, 'routes.csv': ROUTES })
})
afterAll(async () => void (await product.end()))

function run(...args: string[]): Promise<Ended> {
  return waybridge([...args, '--config', product.dir])
}

async function statusIs(part: object): Promise<void> {
  await expect.poll(() => product.admin('/admin/status'), soon).toMatchObject(part)
}

async function send(id: string, seconds: number): Promise<() => void> {
  const line = await dial(product.ports['tcp/teltonika'])
  const fix = { time: seconds * 1000, latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
  line.socket.write(Buffer.concat([teltonika.login!(id).bytes, teltonika.packet([fix], { id, serial: 1 }).bytes]))
  await expect.poll(() => line.answered().toString('hex'), soon).toBe('0100000001')
  return () => line.socket.destroy()
}

const CLOCK = String.raw`(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\dZ?`

/** Returns the output of `why` as one line. */
async function explained(device: string): Promise<string> {
  return (await run('why', device)).out.replace(/\s+/g, ' ')
}

it('status, positions and why show a van whose fix was delivered', async () => {
  const hangUp = await send(DELIVERED, NOW - 60)
  hangUp()
  await statusIs({ custody: { delivered: 1, waiting: 0 } })
  const well = new RegExp(
    `^Van 12 is standing in Kreuzberg \\(52\\.50000, 13\\.40000\\), \\d+ (?:s|min) ago, ignition on since ${CLOCK}, ` +
      `on route 1002 \\(courier 42\\) last fix ${CLOCK}, route 1002 by routes\\.csv:2, all delivered, last push ${CLOCK} ✓ connected .* ✓ accepted`,
  )
  await expect.poll(async () => explained('Van 12'), soon).toMatch(well)
  expect(await explained(DELIVERED)).toMatch(well)
  const { code, out } = await run('status')
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`^  tracking service      up   since ${CLOCK}$`, 'm'))
  expect(out).toContain('  difference             0   1 received: 1 delivered\n')
  const positions = await run('positions', '--company', '7', '--route', '1002', '--from', iso(NOW - 86_400), '--csv')
  expect(positions.out.split('\n')).toEqual([
    'timestamp,time,lat,lon,server_timestamp',
    expect.stringMatching(`^${NOW - 60},${iso(NOW - 60).replace('.000Z', 'Z')},52\\.5,13\\.4,\\d+`),
    '',
  ])
})

it('check --live tests the embedded service, and --push reads back a position that it pushed', async () => {
  const plain = await run('check', '--live')
  expect([plain.code, plain.out]).toEqual([0, expect.not.stringContaining('canary')])
  const steps = ['dns', 'connection', 'tls', 'apikey', 'oauth_token', 'read', 'push', 'read_back']
  const { code, out } = await run('check', '--live', '--push', '--courier', '43', '--route', '1007')
  expect([code, Array.from(out.matchAll(/^ {2}✓ (\w+)/gm), ([, step]) => step)]).toEqual([0, steps])
  expect(await product.positions('1007', NOW - 3600, NOW + 3600)).toMatchObject([{ lat: 0, lon: 0 }])
})

it('why explains a van that was never heard, an unknown device, and a wrong name', async () => {
  expect(await explained('Van 31')).toMatch(
    /^Van 31 was never heard, .* nothing has come from it yet: point it to this server .* ✖ connected never heard/,
  )
  const end = await send(UNKNOWN, NOW - 30)
  await statusIs({ held: { fixes: 1 } })
  await expect
    .poll(async () => explained(UNKNOWN), soon)
    .toMatch(
      new RegExp(
        `1 fix held since ${CLOCK}: add it to devices\\.yaml .* ✖ identified .* → if it is yours, name it under`,
      ),
    )
  const row = `${UNKNOWN} +teltonika +tcp ${product.ports['tcp/teltonika']} +\\d+ s ago +1 +52\\.50000, 13\\.40000`
  const entry = `\n  "${UNKNOWN}": { name: …, company_id: …, courier_id: …, route_id: … }\n`
  await expect.poll(async () => (await run('arrivals')).out, soon).toMatch(new RegExp(`\n${row}\n`))
  expect((await run('arrivals')).out).toContain(entry)
  end()
  const { code, errors } = await run('why', 'Van 30')
  expect([code, errors]).toEqual([1, 'No device has the id or name "Van 30": did you mean Van 31?\n'])
})

it('routes put is refused if most devices lose their route, but done with --force', async () => {
  const file = join(product.dir, 'today.csv')
  await writeFile(file, `device,courier_id,route_id,from,until\nVan 12,42,1004,${HOUR}\nVan 99,1,1,${HOUR}\n`)
  const rejected = `${file}:3: device: no device has the id or the name "Van 99"`
  const refused = await run('routes', 'check', file)
  expect([refused.code, refused.out.split('\n')]).toEqual([
    1,
    [
      rejected,
      expect.stringMatching(/^company 7, \S+ 00:00 to \S+ 00:00 \(UTC\) would have 0 added, 1 changed, 2 removed$/),
      expect.stringMatching(/^1 of 3 devices would have a route (?:now|then); Van 14 and Van 31 have none$/),
      'more than half of the vans that have a route would lose it',
      '',
    ],
  ])
  expect((await run('routes', 'put', file)).code).toBe(1)
  expect((await run('why', 'Van 12')).out).toContain('route 1002 by routes.csv:2')
  const put = await run('routes', 'put', file, '--force')
  expect([put.code, put.out.split('\n')]).toEqual([
    1,
    [
      expect.stringMatching(
        /^Van 12: 1 position, .* delivered to route 1002 \(courier 42\), now of route 1004 \(courier 42\)$/,
      ),
      'the API has no deletion: these positions stay with the route that has them as well',
      rejected,
      expect.stringMatching(/\(UTC\): 0 added, 1 changed, 2 removed$/),
      expect.stringMatching(/^1 of 3 devices has a route (?:now|then); Van 14 and Van 31 have none$/),
      `${file}: line 3 is left out, all others are put: correct it and put the file again`,
      '',
    ],
  ])
  expect((await run('why', 'Van 12')).out).toMatch(new RegExp(`, route 1004 by the admin port, put ${CLOCK}, `))
  expect((await run('why', 'Van 14')).out).toMatch(/^never heard, no route now, /m)
})
