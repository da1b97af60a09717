import { expect, it } from 'vitest'
import { answering, STATUS, waybridge } from '../support/cli.ts'

const IMEI = '356307042441013'
const ABOUT = {
  at: '2026-11-20T08:14:02.000Z',
  device: IMEI,
  protocol: 'h02',
  transport: 'tcp',
  reason: 'not_read',
  error: 'the frame is malformed: "52.53" of 356307042441013',
  bytes: 60,
  read: { fixes: 0, unreadable: [] },
  opening: 1,
}
const base64 = (text: string) => Buffer.from(text).toString('base64')
const PLACED = `*HQ,${IMEI},V9,101010,A,5231.8012,N,01324.6123,E,000.0,0,201126#`
const BARE = `*HQ,${IMEI},V8,101010#`
const content = (text: string) => ({
  body: base64(text),
  opening: [base64(`*HQ,${IMEI},LINK#`)],
  others: [],
  places: [],
})

async function admin(results: readonly object[], lastFix: object | undefined = { lat: 52.53, lon: 13.41 }) {
  return answering(({ path }) => {
    if (path === '/admin/status') return { json: STATUS }
    if (path.startsWith('/admin/devices/')) return { json: { id: IMEI, last_fix: lastFix } }
    return { json: { results } }
  })
}

it('misunderstood list counts the frames by protocol and reason', async () => {
  const other = { ...ABOUT, device: '7', protocol: 'gt06', error: undefined, reason: 'unknown_type', hex: '7878' }
  const server = await admin([{ ...ABOUT, text: PLACED }, { ...ABOUT, device: '8', text: PLACED }, other])
  const { code, out } = await waybridge(['misunderstood', 'list', ...server.options])
  expect(code).toBe(0)
  const rows = out
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  expect(rows).toEqual([
    ['PROTOCOL', 'FRAMES', 'DEVICES', 'LATEST', 'WHY IT WAS NOT READ', 'BEGINS'],
    ['h02', '2', '2', '2026-11-20 08:14:02Z', `its position could not be read: ${ABOUT.error}`, PLACED.slice(0, 48)],
    ['gt06', '1', '1', '2026-11-20 08:14:02Z', 'its type is not known', '7878'],
  ])
})

it('misunderstood list says that no frame is kept', async () => {
  const server = await admin([])
  const { out } = await waybridge(['misunderstood', 'list', '--device', IMEI, ...server.options])
  expect(out).toBe('No such frame is kept.\n')
  expect(server.asked.at(-1)).toMatchObject({ query: { device: IMEI } })
})

it('misunderstood export prints cases that decode reads, without id and place', async () => {
  const server = await admin([{ ...ABOUT, content: content(PLACED) }])
  const { code, out, errors } = await waybridge(['misunderstood', 'export', ...server.options])
  expect(code).toBe(0)
  expect(out + errors).not.toMatch(/356307042441013|5231\.8|01324\.6|52\.53/)
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toEqual([
    expect.objectContaining({
      id: 'h02-1-opening-1',
      session: 'h02-1',
      input: { text: expect.stringMatching(/^\*HQ,1\d{14},LINK#$/) },
    }),
    expect.objectContaining({
      id: 'h02-1',
      protocol: 'h02',
      deviceId: lines[0].deviceId,
      input: {
        text: `*HQ,${lines[0].deviceId},V9,101010,A,1234.5123,N,12345.1234,E,000.0,0,201126#`,
      },
      reason: 'not_read',
    }),
  ])
  expect(errors).toMatch(/look at the lines before you send them/)
})

it('misunderstood export leaves out frames without a recognised place, and says how many', async () => {
  const server = await admin([{ ...ABOUT, reason: 'unknown_type', error: undefined, content: content(BARE) }])
  const some = await waybridge(['misunderstood', 'export', ...server.options])
  expect([some.code, some.out]).toEqual([0, ''])
  expect(some.errors).toMatch(/1 frame is left out/)
  const all = await waybridge(['misunderstood', 'export', '--all', ...server.options])
  expect(all.out).toContain('V8,101010')
  expect(all.out).not.toContain(IMEI)
})
