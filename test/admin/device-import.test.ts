import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { DevicesPutJson } from '../../src/admin/schemas/device-import.ts'
import type { RosterPutJson } from '../../src/admin/schemas/roster.ts'
import { keys } from '../../src/store/index.ts'
import { TOKEN } from '../support/admin.ts'
import { BROKEN, fleetCsv, fleetXlsx, imeiOf, lineOf, plateOf } from '../support/fleet-list.ts'
import { askAs, CANARY, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

const admin = twoCompanies()
const VAN_12 = '0356307042441013'
const VAN_14 = '356307042441014'

type Tried = DevicesPutJson & { readonly message?: string }

interface PutOptions {
  readonly company?: number
  readonly dry?: boolean
  readonly force?: boolean
  readonly columns?: object
  readonly accept?: object
  readonly type?: string
  readonly token?: string
}

async function put(
  list: string | Buffer,
  options: PutOptions = {},
): Promise<{ status: number; json: Tried; text: string }> {
  const { company = 7, dry, force, columns, accept, type = 'text/csv', token = TOKEN } = options
  const query = new URLSearchParams({
    company_id: String(company),
    ...(dry && { dry_run: 'true' }),
    ...(force && { force: 'true' }),
    ...(columns && { columns: JSON.stringify(columns) }),
    ...(accept && { accept: JSON.stringify(accept) }),
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  const answer = await admin.ask(`/admin/devices?${query.toString()}`, { method: 'PUT', headers, body: list })
  return { ...answer, json: answer.json as Tried }
}

async function undo(
  id: string | undefined,
  query = '',
): Promise<{ status: number; json: RosterPutJson & { message?: string } }> {
  const { status, json } = await admin.ask(`/admin/roster/undo?put=${id}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  return { status, json: json as RosterPutJson }
}

async function entry(id: string): Promise<Record<string, unknown> | undefined> {
  const { status, json } = await admin.ask(`/admin/devices/${id}`)
  return status === 200 && (json as { configured: boolean }).configured ? (json as Record<string, unknown>) : undefined
}

async function arrive(device: string): Promise<void> {
  const arrival = { at: Date.now(), address: '10.0.0.1:5', transport: 'tcp', port: 5027, evidence: [], device }
  await admin.redis.hset(keys.arrivedDevices, device, JSON.stringify(arrival))
}

async function message(answer: Promise<{ status: number; json: Tried }>): Promise<string> {
  const { status, json } = await answer
  return `${status} ${json.message}`
}

/** Leaves out fields that change by themselves. */
function said(of: Record<string, unknown> | undefined): object {
  return { ...of, events: undefined, lane: undefined }
}

const IMEI = imeiOf(1)

beforeEach(() =>
  vi.waitFor(async () => expect(await entry(VAN_12)).toMatchObject({ name: 'Van 12' }), { timeout: 30_000 }),
)

it('PUT /admin/devices adds and changes what a list names, and keeps everything else', async () => {
  const { status, json } = await put(`Kennzeichen;IMEI;Fahrer-Nr.\nB-WB 1;${IMEI};51\n;${VAN_14};44\n`)
  expect([status, json]).toEqual([
    200,
    {
      added: 1,
      changed: 1,
      unchanged: 0,
      put: expect.stringMatching(/^\d{13}$/) as unknown,
      columns: [
        { name: 'kennzeichen', read_as: 'name' },
        { name: 'imei', read_as: 'device' },
        { name: 'fahrer-nr.', read_as: 'courier_id' },
      ],
      rejected: [],
      doubtful: [],
      devices: 4,
    },
  ])
  expect(await entry(IMEI)).toMatchObject({ name: 'B-WB 1', company_id: '7', courier_id: '51' })
  expect(await entry(VAN_14)).toMatchObject({ name: 'Van 14', courier_id: '44', time_zone: '+03:00' })
  expect(await entry(VAN_12)).toMatchObject({ name: 'Van 12', secret: true, model: 'FMB920' })
})

it('PUT /admin/devices keeps the secret and the written form of the id of a device that it changes', async () => {
  expect((await put(`IMEI;Tour\n${VAN_12.slice(1)};1009\n`)).json).toMatchObject({ changed: 1 })
  expect(await entry(VAN_12)).toMatchObject({ id: VAN_12, route_id: '1009', secret: true, model: 'FMB920' })
})

it('PUT /admin/devices with dry_run shows the changes of each van, also to a token that may only read', async () => {
  const list = `Kennzeichen;IMEI\nB-WB 1;${IMEI}\nB-WB 14;${VAN_14}\nVan 12;${VAN_12}\n`
  const { json } = await put(list, { dry: true })
  expect(json).toMatchObject({ added: 1, changed: 1, unchanged: 1 })
  expect(json.put).toBeUndefined()
  expect(json.changes).toEqual([
    { line: 2, device: IMEI, name: 'B-WB 1', after: { name: 'B-WB 1' } },
    { line: 3, device: VAN_14, name: 'B-WB 14', before: { name: 'Van 14' }, after: { name: 'B-WB 14' } },
  ])
  expect(await entry(IMEI)).toBeUndefined()
  expect((await put(list, { token: TOKEN_7, dry: true })).status).toBe(200)
})

it('PUT /admin/devices answers 403 to a token that may only read', async () => {
  expect((await put(`IMEI\n${IMEI}\n`, { token: 'canary-read-7' })).status).toBe(403)
})

it('PUT /admin/devices leaves out bad lines with a reason, and the other lines take effect', async () => {
  const long = 'x'.repeat(65)
  const { status, json } = await put(
    `IMEI;Plate;Courier\n;A;1\n${IMEI};B-WB 1;51\n${imeiOf(2)};C;x\n${long};D;2\n"${imeiOf(3)};E;3\n`,
  )
  expect(status).toBe(200)
  expect(json).toMatchObject({ added: 1 })
  expect(json.rejected.map(({ line, message: reason }) => `${line} ${reason}`)).toEqual([
    '2 it has no id of a device',
    expect.stringMatching(/^4 courier_id: expected an id/),
    expect.stringMatching(/^5 .*expected a device id of 1 to 64 bytes/),
    '6 misplaced quotation mark',
  ])
  expect(await entry(IMEI)).toMatchObject({ name: 'B-WB 1' })
  expect(await entry(imeiOf(2))).toBeUndefined()
})

it('PUT /admin/devices asks for the column of the ids if it recognises none', async () => {
  const list = 'Wer;Was\nB-WB 1;tracker-1\n'
  const { status, json } = await put(list, { dry: true })
  expect([status, json]).toMatchObject([
    200,
    {
      added: 0,
      columns: [
        { name: 'wer', read_as: null, note: 'not recognised: left aside' },
        { name: 'was', read_as: null },
      ],
    },
  ])
  expect(await put(list)).toMatchObject({
    status: 422,
    json: { message: 'no column is recognised as the ids of the trackers: choose it by hand' },
  })
  expect((await put(list, { columns: { Wer: 'name', Was: 'device' } })).json).toMatchObject({ added: 1 })
  expect(await entry('tracker-1')).toMatchObject({ name: 'B-WB 1' })
})

it('PUT /admin/devices ignores a column that the caller excludes', async () => {
  const { json } = await put(`IMEI;Plate;Tour\n${IMEI};B-WB 1;1009\n`, { columns: { Tour: null } })
  expect(json).toMatchObject({ added: 1 })
  expect((await entry(IMEI))?.route_id).toBeUndefined()
})

it('PUT /admin/devices accepts JSON, also as GET /admin/devices answers it', async () => {
  const body = JSON.stringify([{ device: IMEI, name: 'B-WB 1', courier_id: 51 }, 7])
  const { json } = await put(body, { type: 'application/json' })
  expect(json).toMatchObject({ added: 1, rejected: [{ line: 2, message: 'expected an object' }] })
  expect(await entry(IMEI)).toMatchObject({ name: 'B-WB 1', courier_id: '51' })
  const { text } = await admin.ask('/admin/devices?mapping=mapped')
  expect((await put(text, { type: 'application/json', dry: true })).json).toMatchObject({ added: 0, changed: 0 })
})

it('PUT /admin/devices refuses an unknown company, column, type or parameter, and an empty list', async () => {
  const list = `IMEI\n${IMEI}\n`
  expect(await message(put(list, { company: 99 }))).toBe('404 there is no company 99 in gateway.yaml')
  expect(await message(put(''))).toBe('422 the list is empty')
  expect(await message(put(list, { accept: { 9: IMEI } }))).toBe('422 accept: line 9 has no id of a device')
  expect(await message(put(list, { columns: { IMEI: 'plate' } }))).toMatch(/^422 columns/)
  expect(await message(put(list, { type: 'image/png' }))).toMatch(/^415 send the list of vans as text\/csv/)
  const { status, json } = await admin.ask('/admin/devices?company_id=7&dry-run=true', {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' },
    body: list,
  })
  expect([status, json]).toMatchObject([
    422,
    { message: expect.stringContaining('unknown: expected company_id') as unknown },
  ])
  expect(await entry(IMEI)).toBeUndefined()
})

it('PUT /admin/devices can exchange two names, and leaves out the second of two vans with one name', async () => {
  expect((await put(`IMEI;Name\n${VAN_12};Van 14\n${VAN_14};Van 12\n`, { force: true })).json).toMatchObject({
    changed: 2,
    rejected: [],
  })
  expect(await entry(VAN_14)).toMatchObject({ name: 'Van 12' })
  const { json } = await put(`IMEI;Name;Courier\n${imeiOf(1)};Van 1;51\n${imeiOf(2)};Van 1;52\n`)
  expect(json).toMatchObject({
    added: 1,
    rejected: [{ line: 3, message: expect.stringContaining('same name, but another courier') as unknown }],
  })
})

it('PUT /admin/devices warns of two trackers with one name', async () => {
  const { json } = await put(`IMEI;Name\n${imeiOf(1)};Van 1\n${imeiOf(2)};Van 1\n`)
  expect(json).toMatchObject({ added: 2, rejected: [] })
  expect(json.warnings?.map(({ line }) => line)).toEqual([2, 3])
  expect(json.warnings?.[0].message).toBe(
    `device ${imeiOf(2)} has the name "Van 1" too: correct only for two trackers of one van`,
  )
})

it('PUT /admin/devices names the vans that lose a route because a line uses their old name', async () => {
  const list = `IMEI;Kennzeichen;Tour\n${VAN_14};B-WB 14;\n`
  const { status, json } = await put(list, { dry: true })
  expect([status, json]).toMatchObject([
    200,
    { changed: 1, takes: [{ device: VAN_14, name: 'Van 14', route_id: '2001' }] },
  ])
})

it('PUT /admin/devices is in the audit log and in the roster results', async () => {
  const { json } = await put(`IMEI;Kennzeichen\n${IMEI};B-WB 1\n3.5E+14;B-WB 2\n`)
  const audit = await admin.ask('/admin/audit')
  expect(audit.json).toMatchObject({
    results: [
      {
        method: 'PUT',
        operation: '/admin/devices',
        companies: ['7'],
        summary: { added: 1, changed: 0, rejected: 0, doubtful: 1 },
      },
    ],
  })
  const { results } = (await admin.ask('/admin/roster')).json as { results: object[] }
  expect(results[0]).toMatchObject({
    kind: 'put',
    list: 'devices',
    company_id: '7',
    put: json.put,
    added: 1,
    rejected: [{ line: 3, device: '3.5E+14', message: 'a spreadsheet has rounded this id' }],
  })
})

it('PUT /admin/devices writes nothing if nothing changes', async () => {
  const { json } = await put(`IMEI;Name\n${VAN_14};Van 14\n`)
  expect(json).toMatchObject({ added: 0, changed: 0, unchanged: 1 })
  expect(json.put).toBeUndefined()
})

const ROUNDED = imeiOf(17)

it('PUT /admin/devices leaves out a rounded id until it is accepted, and suggests an id that has arrived', async () => {
  await arrive(ROUNDED)
  const list = 'Plate;IMEI\nB-WB 17;3.54194E+14\n'
  const { json } = await put(list)
  expect(json).toMatchObject({
    added: 0,
    doubtful: [
      {
        line: 2,
        device: '3.54194E+14',
        name: 'B-WB 17',
        message: 'a spreadsheet has rounded this id',
        suggestions: [{ id: ROUNDED, arrived_at: expect.stringMatching(/Z$/) as unknown }],
      },
    ],
  })
  expect((await put(list, { accept: { 2: ROUNDED } })).json).toMatchObject({ added: 1, doubtful: [] })
  expect(await entry(ROUNDED)).toMatchObject({ name: 'B-WB 17' })
})

it('PUT /admin/devices adds an id with a wrong check digit if it is accepted', async () => {
  const wrong = BROKEN[151]
  const { json } = await put(`IMEI\n${wrong}\n`)
  expect(json.doubtful).toEqual([
    {
      line: 2,
      device: wrong,
      id: wrong,
      message: 'its last digit does not fit: a digit of this IMEI is wrong',
      suggestions: [],
    },
  ])
  expect((await put(`IMEI\n${wrong}\n`, { accept: { 2: wrong } })).json).toMatchObject({ added: 1 })
})

it('PUT /admin/devices does not doubt an id that has arrived or is configured', async () => {
  const wrong = BROKEN[151]
  await arrive(wrong)
  expect((await put(`IMEI;Plate\n${wrong};B-WB 1\n${VAN_14};B-WB 14\n`)).json).toMatchObject({
    added: 1,
    changed: 1,
    doubtful: [],
  })
})

it('PUT /admin/devices suggests the arrived id with one typing error, and the configured van of the same name', async () => {
  await arrive(imeiOf(151))
  const { json } = await put(`IMEI;Name\n${BROKEN[151]};B-WB 151\n3.5E+14;Van 14\n`)
  expect(json.doubtful.map(({ suggestions }) => suggestions.map(({ id }) => id))).toEqual([
    [imeiOf(151)],
    [VAN_14, imeiOf(151)],
  ])
})

it('PUT /admin/devices doubts an id of 14 digits if it is an arrived id with another digit missing', async () => {
  const [typed, arrived] = [imeiOf(5).slice(0, 8) + imeiOf(5).slice(9), imeiOf(5)]
  expect((await put(`IMEI\n${typed}\n`, { dry: true })).json).toMatchObject({ added: 1, warnings: [{ line: 2 }] })
  await arrive(arrived)
  expect((await put(`IMEI\n${typed}\n`, { dry: true })).json).toMatchObject({
    added: 0,
    doubtful: [{ suggestions: [{ id: arrived }] }],
  })
  expect((await put(`IMEI\n${arrived.slice(0, -1)}\n`, { dry: true })).json).toMatchObject({ added: 1, doubtful: [] })
})

it('PUT /admin/devices doubts an id that two lines have, unless they are equal or one of them is accepted', async () => {
  const list = `IMEI;Plate\n${IMEI};B-WB 1\n${IMEI};B-WB 2\n`
  const { json } = await put(list)
  expect(json.doubtful.map(({ line, message: reason }) => `${line} ${reason}`)).toEqual([
    '2 line 3 has this id too',
    '3 line 2 has this id too',
  ])
  const accepted = await put(list, { accept: { 3: imeiOf(2) } })
  expect(accepted.json).toMatchObject({ added: 2, doubtful: [], rejected: [] })
  expect((await put(`IMEI;Plate\n${imeiOf(4)};B\n${imeiOf(4)};B\n`)).json).toMatchObject({
    added: 1,
    doubtful: [],
    rejected: [{ line: 3, message: 'line 2 has this id too' }],
  })
})

const seven = askAs(admin, TOKEN_7)

it('a device list with a token of one company neither changes nor names vans of another one', async () => {
  await arrive(imeiOf(17))
  const list = `IMEI;Name\nzebra-1;B-WB 1\n${imeiOf(1)};Zebra Two\nzebra-2x;zebra-1\n3.54194E+14;B-WB 17\n`.replaceAll(
    'zebra-2x',
    imeiOf(2),
  )
  const { json, text } = await put(list, { token: TOKEN_7 })
  expect(json.rejected.map(({ line, message: reason }) => `${line} ${reason}`)).toEqual(
    [2, 3, 4].map((line) => `${line} this id or name is taken: the line is left out`),
  )
  expect(json).toMatchObject({ added: 0, doubtful: [{ suggestions: [] }], devices: 3 })
  expect(text.replaceAll('"device":"zebra-1"', '')).not.toMatch(CANARY)
  expect(await entry('zebra-1')).toMatchObject({ name: 'Zebra Van', company_id: '8' })
})

it('a device list answers 404 for a company that the token does not see', async () => {
  expect((await put(`IMEI\n${IMEI}\n`, { company: 8, token: TOKEN_7 })).status).toBe(404)
  expect((await seven('/admin/devices')).text).not.toMatch(CANARY)
})

const LIST = `IMEI;Name;Courier\n${IMEI};B-WB 1;51\n${VAN_14};B-WB 14;\n${VAN_12};Van 12;45\n`

it('the undo of a device list restores the entries as they were', async () => {
  const before = await Promise.all([VAN_12, VAN_14].map(entry))
  const { json } = await put(LIST, { force: true })
  const tried = await undo(json.put, '&dry_run=true')
  expect(tried.json).toMatchObject({ added: 0, changed: 2, removed: 1 })
  expect(tried.json.entries).toEqual([
    { device: IMEI, name: 'B-WB 1', before: { name: 'B-WB 1', courier_id: '51' } },
    { device: VAN_14, name: 'Van 14', before: { name: 'B-WB 14' }, after: { name: 'Van 14' } },
    { device: VAN_12, name: 'Van 12', before: { courier_id: '45' }, after: { courier_id: '42' } },
  ])
  expect(await entry(IMEI)).toBeDefined()
  expect(await undo(json.put)).toMatchObject({ status: 200, json: { changed: 2, removed: 1, devices: 3 } })
  expect(await entry(IMEI)).toBeUndefined()
  const after = await Promise.all([VAN_12, VAN_14].map(entry))
  expect(after.map(said)).toEqual(before.map(said))
  expect((await undo(json.put)).status).toBe(409)
})

it('the undo of a device list keeps what was changed since', async () => {
  const { json } = await put(LIST, { force: true })
  const body = { company_id: 7, name: 'Later', courier_id: 43 }
  await askAs(admin, TOKEN)(`/admin/devices/${VAN_14}`, { method: 'PUT', body })
  expect(await undo(json.put)).toMatchObject({ status: 200, json: { changed: 1, removed: 1 } })
  expect(await entry(VAN_14)).toMatchObject({ name: 'Later' })
  expect(await entry(VAN_12)).toMatchObject({ courier_id: '42' })
})

it('the undo of a device list answers 409 until the later put is undone', async () => {
  const { json } = await put(LIST, { force: true })
  const later = await put(`IMEI;Name\n${imeiOf(2)};B-WB 2\n`)
  expect(await undo(json.put)).toMatchObject({
    status: 409,
    json: { message: expect.stringContaining('later put') as unknown },
  })
  expect((await undo(later.json.put)).status).toBe(200)
  expect((await undo(json.put)).status).toBe(200)
})

it('two device lists at the same time both take effect on each van', async () => {
  const [one, other] = await Promise.all([
    put(`IMEI;Courier\n${VAN_14};61\n${imeiOf(1)};71\n`),
    put(`IMEI;Name\n${VAN_14};B-WB 14\n${imeiOf(2)};B-WB 2\n`, { force: true }),
  ])
  expect([one.status, other.status]).toEqual([200, 200])
  expect(await entry(VAN_14)).toMatchObject({ name: 'B-WB 14', courier_id: '61' })
  expect([await entry(imeiOf(1)), await entry(imeiOf(2))]).toMatchObject([{ courier_id: '71' }, { name: 'B-WB 2' }])
})

it('a device list and an edit of devices.yaml both take effect, and the undo restores the entry of the file', async () => {
  const file = join(admin.dir, 'devices.yaml')
  const before = await readFile(file, 'utf8')
  onTestFinished(async () => {
    await writeFile(file, before)
    await vi.waitFor(async () => expect(await entry(VAN_14)).toMatchObject({ courier_id: '43' }), { timeout: 30_000 })
  })
  const edited = before.replace('courier_id: 43', 'courier_id: 47')
  expect(edited).not.toBe(before)
  const [{ json }] = await Promise.all([
    put(`IMEI;Name\n${imeiOf(1)};B-WB 1\n${VAN_12};B-WB 12\n`),
    writeFile(file, edited),
  ])
  expect(json).toMatchObject({ added: 1, changed: 1 })
  await vi.waitFor(async () => expect(await entry(VAN_14)).toMatchObject({ courier_id: '47' }), { timeout: 30_000 })
  expect(await entry(VAN_12)).toMatchObject({ name: 'B-WB 12' })

  await writeFile(file, edited.replace('name: Van 12,', 'name: Twelve,'))
  await vi.waitFor(async () => expect(await entry(VAN_12)).toMatchObject({ name: 'Twelve' }), { timeout: 30_000 })
  expect((await undo(json.put)).json).toMatchObject({ changed: 0, removed: 1 })
  expect(await entry(VAN_12)).toMatchObject({ name: 'Twelve' })
  expect(await entry(imeiOf(1))).toBeUndefined()
})

describe('the device list of a German fleet with 300 vans', () => {
  it.each([
    ['CSV in Windows-1252', fleetCsv(), 'text/csv'],
    ['a spreadsheet', fleetXlsx(), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ])(
    'the device list of a German fleet adds 294 of 300 vans at once, and asks about the others, as %s',
    async (kind, list, type) => {
      await arrive(imeiOf(17))
      const { json } = await put(list, { type, dry: true })
      expect(json.columns.map(({ name, read_as }) => [name, read_as])).toEqual([
        ['lfd. nr.', null],
        ['kennzeichen', 'name'],
        ['fahrzeug', null],
        ['imei-nummer', 'device'],
        ['fahrer', null],
        ['sim-karte', null],
        ['bemerkung', null],
      ])
      expect(json.notes ?? []).toHaveLength(kind === 'a spreadsheet' ? 0 : 1)
      expect(json.rejected).toEqual([])
      expect(json.doubtful.map(({ line }) => line)).toEqual([17, 90, 151, 221, 222, 299].map(lineOf))
      expect(json).toMatchObject({ added: 294, warnings: [{ line: lineOf(5) }] })
      const accept = {
        [lineOf(17)]: json.doubtful[0].suggestions[0].id,
        [lineOf(90)]: imeiOf(90),
        [lineOf(151)]: imeiOf(151),
        [lineOf(221)]: imeiOf(221),
        [lineOf(222)]: imeiOf(222),
      }
      expect((await put(list, { type, accept })).json).toMatchObject({ added: 299, doubtful: [{ line: lineOf(299) }] })
      for (const van of [1, 3, 4, 5, 6, 17, 90, 151, 222, 300])
        expect(await entry(imeiOf(van))).toMatchObject({ name: plateOf(van), company_id: '7' })
    },
  )
})
