import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import type { ChainJson } from '../../src/admin/schemas/chain.ts'
import { chainPage } from '../../src/cli/why.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, hold, TOKEN, withProcesses } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'

const admin = adminFixture()
withProcesses(admin)

async function run(...args: string[]) {
  return waybridge([...args, '--url', admin.url, '--token', TOKEN], { env: { TZ: 'America/New_York' } })
}

async function printed(...args: string[]): Promise<string> {
  const { code, out, errors } = await run(...args)
  expect([code, errors]).toEqual([0, ''])
  return out
}

/** The device sends a position. */
async function send(device: string, { speed = 10, at = Date.now() } = {}): Promise<void> {
  const heard = new HeardBook(admin.redis)
  heard.of(device).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device, now: at }), 'teltonika')
  heard.of(device).stored({ fix: { at, fix: { time: at, latitude: 54.6872, longitude: 25.2797, valid: true, speed } } })
  await heard.close()
}

it('where shows a parked van and since when its ignition is off, and why shows its alarm', async () => {
  const heard = new HeardBook(admin.redis)
  const [device, at] = ['356307042441014', Date.now() - 1_200_000]
  heard.of(device).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device, now: at }), 'teltonika')
  heard
    .of(device)
    .stored({ fix: { at, fix: { time: at, latitude: 54.6872, longitude: 25.2797, valid: true, speed: 0 } } })
  heard.of(device).said({ ignition: true }, { at: at - 60_000, cameAt: at - 60_000 })
  heard.of(device).said({ ignition: false, alarms: ['power_cut'] }, { at, cameAt: at })
  await heard.close()
  expect(await printed('where', 'Van', '14')).toMatch(
    /^Van 14 is parked in Vilnius \(54\.68720, 25\.27970\), ignition off since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\dZ, last position 20 min ago, on route 2001 \(courier 43\)\n$/,
  )
  const where = JSON.parse(await printed('where', device, '--json'))
  expect(where).toMatchObject({ condition: 'parked', findings: ['power_cut'], said: { ignition: { value: false } } })
  expect(await printed('devices', '--condition', 'parked')).toMatch(/Van 14 +parked +20 min ago .* power_cut/)
  expect(await printed('why', device)).toMatch(/power cut, said at/)
})

beforeAll(async () => {
  await appendFile(
    join(admin.dir, 'devices.yaml'),
    '"20": { name: Van 12, company_id: 7 }\n"22": { name: A truck of Hamburg, company_id: 7 }\n"21": { name: "=cmd()\\u202e", company_id: 7 }\n',
  )
  await vi.waitFor(async () => expect(await printed('devices', '--q', 'cmd')).toMatch(/cmd/), { timeout: 30_000 })
})

it('why says what the device does and where, then its links with evidence, then what to do', async () => {
  await send('356307042441014')
  const lines = (await printed('why', 'Van', '14')).trimEnd().split('\n')
  expect(lines.slice(0, 3).join(' ')).toMatch(
    /^Van 14 is moving in Vilnius \(54\.68720, 25\.27970\), \d+ s ago, 36 km\/h, on route 2001 \(courier 43\) last fix \d\d:\d\d:\d\dZ, route/,
  )
  const links = lines.filter((line) => /^ {2}[✓✖·]/.test(line))
  expect(links.map((line) => line.slice(2, 16).trim())).toEqual([
    '✓ connected',
    '✓ understood',
    '✓ identified',
    '✓ placed',
    '✓ stored',
    '· pushed',
    '· accepted',
  ])
  expect(links[0]).toMatch(/heard \d+ s ago: teltonika over udp from 10\.1\.2\.3:40001/)
})

it('why says what to do about the first broken link', async () => {
  await send('356307042441014', { at: Date.now() - 600_000 })
  const out = await printed('why', '356307042441014')
  expect(out).toMatch(/^Van 14 is silent, last in Vilnius \(54\.68720, 25\.27970\), 10 min ago, on route 2001/)
  expect(out).toMatch(/✖ connected {3}heard 10 min ago/)
  expect(out).toMatch(/\n→ check its power and its SIM card/)
})

it('why finds a name in small letters, and every device with it', async () => {
  const out = await printed('why', 'van', '12')
  expect(out.match(/^Van 12 was never heard/gm)).toHaveLength(2)
})

it('why prints an action of several parts once, at the end', () => {
  const action = 'is it Van 9, whose id has one digit less? If so, correct it; otherwise name it'
  const finding = { action } as NonNullable<ChainJson['links'][number]['finding']>
  const links = [{ link: 'identified', state: 'broken', evidence: ['nobody has configured it'], finding }] as const
  const sentence = `9 is not configured; not configured, 1 fix held since 08:00:00Z: ${action}`
  expect(
    chainPage(
      { broken: 'identified', links: links.map((each) => ({ ...each, evidence: [...each.evidence] })), sentence },
      (_, text) => text,
    ),
  ).toEqual([
    '9 is not configured',
    'not configured, 1 fix held since 08:00:00Z',
    '  ✖ identified  nobody has configured it',
    `→ ${action}`,
  ])
})

it('where names the id of each device if several have the same name', async () => {
  expect(await printed('where', 'van', '12')).toMatch(/^0356307042441013: Van 12 was never heard.*\n20: Van 12 was/)
})

it('why --json prints the chain', async () => {
  const chain = JSON.parse(await printed('why', '356307042441014', '--json'))
  expect(chain).toMatchObject({ device: { id: '356307042441014', condition: 'never' }, broken: 'connected' })
  expect(chain.links).toHaveLength(7)
})

it.each([
  ['van 13', 'did you mean Van 12?'],
  ['12', 'did you mean Van 12?'],
  ['a truck', 'did you mean A truck of Hamburg?'],
  ['Bicycle', '`waybridge devices` lists all devices'],
  ['', '`waybridge devices` lists all devices'],
])('why does not find %s, and gives a hint', async (name, hint) => {
  const { code, out, errors } = await run('why', name)
  expect([code, out, errors]).toEqual([1, '', `No device has the id or name "${name}": ${hint}\n`])
})

it.each([
  [['enrol', '--for', '30m', '--stop'], 'enrol: give --for or --stop, not both.\n'],
  [['devices', '--csv', '--json'], 'devices: give --csv or --json, not both.\n'],
])('%j is refused', async (args, errors) => expect(await run(...args)).toEqual({ code: 1, out: '', errors }))

it('arrivals asks for an entry only of unconfigured devices', async () => {
  for (const device of ['356307042441013', '99']) {
    await hold(admin.redis, 'unknown', device)
    const arrival = { at: Date.now(), address: '10.1.2.3:40001', transport: 'tcp', evidence: [], device }
    await admin.redis.hset(keys.arrivedDevices, device, JSON.stringify(arrival))
  }
  const [, advice] = (await printed('arrivals')).split('\n\n')
  expect(advice.match(/"\d+": \{/g)).toEqual(['"99": {'])
  expect(advice).toContain('\n356307042441013 is configured, but not proven: see waybridge why 356307042441013\n')
})

it('why says that a device was deleted while a file still has it', async () => {
  await admin.ask('/admin/devices/20', { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } })
  expect(await printed('why', '20')).toMatch(
    /^no device with this id is configured: it was deleted through the admin port: .*devices\.yaml:\d+\n$/,
  )
})

it('where shows the condition of a device, its position with the age, and its route', async () => {
  await send('356307042441014', { speed: 0 })
  expect(await printed('where', 'Van', '14')).toMatch(
    /^Van 14 is standing in Vilnius \(54\.68720, 25\.27970\), \d+ s ago, on route 2001 \(courier 43\)\n$/,
  )
  expect(JSON.parse(await printed('where', 'Van', '14', '--json'))).toMatchObject({
    condition: 'standing',
    position: { lat: 54.6872, lon: 25.2797, speed: 0 },
  })
})

it('devices lists what each device does, and filters', async () => {
  await send('356307042441014')
  await hold(admin.redis, 'unknown', '77')
  const lines = (await printed('devices')).trimEnd().split('\n')
  expect(lines[0]).toMatch(/^DEVICE +NAME +DOES +HEARD +COURIER +ROUTE +FINDINGS$/)
  expect(lines.find((line) => line.startsWith('356307042441014'))).toMatch(/Van 14 +moving +\d+ s ago +43 +2001/)
  expect(lines.find((line) => line.startsWith('77 '))).toMatch(/unknown +never +unknown_device$/)
  expect(await printed('devices', '--condition', 'moving', '--json')).toContain('"id": "356307042441014"')
  expect(await printed('devices', '--condition', 'silent')).toBe('no device\n')
})

it('devices --csv has no cell that a spreadsheet reads as a formula', async () => {
  const [head, row] = (await printed('devices', '--q', 'cmd', '--csv')).split('\n')
  expect(head).toBe('id,name,state,condition,mapping,heard_at,fix_at,lat,lon,speed,courier_id,route_id,findings')
  expect(row).toBe("21,'=cmd() ,never,never,no_route,,,,,,,,")
})

it('why says what is known of a device while Redis is down, and that Redis is down', async () => {
  await printed('devices')
  await admin.server.kill('SIGKILL')
  try {
    await vi.waitFor(
      async () => {
        const { code, out } = await run('why', 'Van', '14')
        expect([code, out.replaceAll(/\s+/g, ' ')]).toEqual([
          0,
          expect.stringMatching(
            /^Van 14 was never heard, on route 2001 \(courier 43\), but nothing can be stored Redis does not answer: nothing is stored and nothing acknowledged \? connected .* ✖ stored .* → see the evidence and the log of Redis: start it again/,
          ),
        ])
      },
      { timeout: 30_000 },
    )
    const { out } = await run('why', 'Van', '14', '--json')
    expect(JSON.parse(out)).toMatchObject({ broken: 'stored', findings: [{ code: 'redis_down' }] })
  } finally {
    await admin.server.restart()
  }
})

it('why refers to the arrivals for an unconfigured device without stored or held fixes', async () => {
  const sender = { at: Date.now(), address: '203.0.113.7:40112', transport: 'tcp', port: 5023, evidence: [] }
  await admin.redis.lpush(keys.arrivals, JSON.stringify({ ...sender, device: '356307042441021', bytes: '7878' }))
  const { code, errors } = await run('why', '356307042441021')
  const hint = 'is not configured, and nothing of it is held: see `waybridge arrivals`'
  expect([code, errors]).toEqual([1, `356307042441021 ${hint}\n`])
})

it('arrivals shows the beginning of text as text, and other bytes as hexadecimal digits', async () => {
  for (const bytes of [Buffer.from('GET /?lat=5\r\nHost: gps\r\n'), Buffer.from('aa55aa0d0a', 'hex')]) {
    const sender = { at: Date.now(), address: '203.0.113.7:40112', transport: 'tcp', port: 5023, evidence: [] }
    await admin.redis.lpush(keys.arrivals, JSON.stringify({ ...sender, bytes: bytes.toString('hex') }))
  }
  const out = await printed('arrivals')
  expect(out).toMatch(/ {2}GET \/\?lat=5 Host: gps$/m)
  expect(out).toMatch(/ {2}aa55aa0d0a$/m)
})
