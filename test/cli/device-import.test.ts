import { expect, it } from 'vitest'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { fleetCsv, fleetXlsx, imeiOf, lineOf, plateOf } from '../support/fleet-list.ts'

const admin = adminFixture()

/** Runs `waybridge devices …` in a folder with these files, on a real admin port. */
async function devices(files: Readonly<Record<string, string | Buffer>>, ...args: string[]) {
  return waybridge(['devices', ...args, '--url', admin.url, '--token', TOKEN], { cwd: await folder(files) })
}

const nameOf = async (id: string) => ((await admin.ask(`/admin/devices/${id}`)).json as { name?: string }).name

const column = (text: string) => ['--column', text]

const LIST = `Plate,IMEI,Comment\nB-WB 1,${imeiOf(1)},new\nB-WB 14,356307042441014,\nB-WB 3,3.54194E+14,\n,,no van\n`
const COLUMNS = 'vans.csv: read are "plate" as name, "imei" as device\nvans.csv: "comment": comment: not kept\n'

it('devices check says for each column and van what the list would change, and changes nothing', async () => {
  const { code, out, errors } = await devices({ 'vans.csv': LIST }, 'check', 'vans.csv')
  expect([code, errors]).toEqual([1, ''])
  expect(out).toBe(
    `${COLUMNS}vans.csv:5: it has no id of a device\n` +
      'in doubt: vans.csv:4: a spreadsheet has rounded this id (B-WB 3: 3.54194E+14); --accept 4=ID\n' +
      'company 7 would have: 1 added, 1 changed, 0 as they were, 1 left out, 1 in doubt and left out\n' +
      `  B-WB 1 (${imeiOf(1)}): is added, name B-WB 1\n` +
      '  B-WB 14 (356307042441014): name B-WB 14 (was Van 14)\n' +
      'this takes the route from Van 14\n',
  )
  expect(await nameOf('356307042441014')).toBe('Van 14')
})

it('devices check prints JSON, and ends with exit code 0 if every line is accepted', async () => {
  const { code, out } = await devices({ 'vans.csv': `IMEI\n${imeiOf(1)}\n` }, 'check', 'vans.csv', '--json')
  expect([code, JSON.parse(out)]).toMatchObject([0, { added: 1, doubtful: [] }])
})

it('devices put puts the certain and the accepted lines, which routes undo takes back', async () => {
  const { code, out } = await devices({ 'vans.csv': LIST }, 'put', 'vans.csv', '--accept', `4=${imeiOf(3)}`, '--yes')
  expect([code, out.split('\n').slice(3)]).toEqual([
    1,
    [
      'company 7 has: 2 added, 1 changed, 0 as they were, 1 left out',
      'waybridge routes undo --company 7 takes it back',
      '',
    ],
  ])
  expect([await nameOf(imeiOf(1)), await nameOf(imeiOf(3))]).toEqual(['B-WB 1', 'B-WB 3'])
  const options = ['--url', admin.url, '--token', TOKEN, '--yes']
  expect(await waybridge(['routes', 'undo', ...options])).toMatchObject({
    code: 0,
    out: expect.stringContaining('0 added, 1 changed, 2 removed') as unknown,
  })
  expect([await nameOf(imeiOf(1)), await nameOf('356307042441014')]).toEqual([undefined, 'Van 14'])
})

it('devices put accepts a line in doubt by its number, and asks for the id of a line without one', async () => {
  const wrong = imeiOf(1).replace(/.$/, (digit) => String((Number(digit) + 1) % 10))
  const files = { 'vans.csv': `IMEI\n${wrong}\n3.5E+14\n${imeiOf(2)}\n` }
  expect((await devices(files, 'put', 'vans.csv', '--accept', '3')).errors).toBe(
    'vans.csv:3: there is no id to accept: write --accept 3=ID.\n',
  )
  expect((await devices(files, 'put', 'vans.csv', '--accept', '4')).errors).toBe(
    'vans.csv:4: this line is not in doubt: leave --accept 4 out.\n',
  )
  const { code, out } = await devices(files, 'put', 'vans.csv', '--accept', '2', '--accept', `3=${imeiOf(3)}`)
  expect([code, out]).toEqual([0, expect.stringContaining('company 7 has: 3 added') as unknown])
})

it('devices put reads a column as the option says', async () => {
  const files = { 'vans.csv': 'Wer;Was;Tour\nB-WB 1;tracker-1;1009\n' }
  expect((await devices(files, 'put', 'vans.csv')).errors).toMatch(/422: no column is recognised as the ids/)
  const all = [...column('name=Wer'), ...column('device=Was'), ...column('none=Tour')]
  expect((await devices(files, 'put', 'vans.csv', ...all)).code).toBe(0)
  expect(await nameOf('tracker-1')).toBe('B-WB 1')
  expect((await devices(files, 'put', 'vans.csv', ...column('nmae=Wer'))).errors).toMatch(/did you mean name\?\n$/)
})

it('devices put takes no route from a van without --yes', async () => {
  const files = { 'vans.csv': 'IMEI;Plate\n356307042441014;B-WB 14\n' }
  const { code, errors } = await devices(files, 'put', 'vans.csv')
  expect([code, errors]).toEqual([
    1,
    'Nothing is changed: this takes the route from Van 14; add --yes if it is meant.\n',
  ])
  expect(await nameOf('356307042441014')).toBe('Van 14')
  expect((await devices(files, 'put', 'vans.csv', '--yes')).code).toBe(0)
})

it('devices put names a file that does not exist', async () => {
  expect((await devices({}, 'put', 'vans.csv')).errors).toBe('vans.csv: there is no such file.\n')
})

it('devices put has no option --redeliver', async () => {
  const { code, errors } = await devices({ 'vans.csv': LIST }, 'put', 'vans.csv', '--yes', '--redeliver')
  expect([code, errors.split('\n')[0]]).toEqual([1, "error: unknown option '--redeliver'"])
})

it.each([
  ['fleet.csv', fleetCsv()],
  ['fleet.xlsx', fleetXlsx()],
])('devices put accepts the list of a German fleet of 300 vans, %s', async (name, list) => {
  const { code, out } = await devices({ [name]: list }, 'put', name)
  expect([code, out]).toEqual([
    1,
    expect.stringContaining('company 7 has: 294 added, 0 changed, 0 as they were, 6 in doubt and left out') as unknown,
  ])
  expect(out).toContain(
    `in doubt: ${name}:${lineOf(222)}: line ${lineOf(221)} has this id too (${plateOf(222)}: ${imeiOf(221)})`,
  )
  expect(await nameOf(imeiOf(300))).toBe(plateOf(300))
})

it('devices lists the devices that match --q', async () => {
  const { code, out } = await waybridge(['devices', '--url', admin.url, '--token', TOKEN, '--q', 'van 14'])
  expect([code, out.split('\n')[1]]).toEqual([0, expect.stringContaining('Van 14') as unknown])
})
