import { expect, it } from 'vitest'
import { unresolved } from '../../src/roster/advice.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'

const device = (id: string, name?: string) => ({
  id,
  name,
  company_id: '7',
  courier_id: '1',
  source: `devices.yaml:${id}`,
})
const line = (text: string): Assignment => ({
  device: text,
  courier_id: '',
  route_id: '5',
  from: 0,
  until: 100,
  source: 'routes.csv:2',
})

it.each([
  ['van 12', ['1']],
  ['VAN 12', ['1']],
  ['Van 14', ['2']],
  ['van 14', []],
  ['VAN 14', ['3']],
  ['Fähre', ['4']],
  ['FÄHRE', ['4']],
  ['0007', ['6']],
  ['7', []],
  ['van/15', ['van/15']],
  ['VAN/15', []],
])('a line with the device %s applies to %j', async (text, ids) => {
  const devices = [
    device('1', 'Van 12'),
    device('2', 'Van 14'),
    device('3', 'VAN 14'),
    device('4', 'Fähre'),
    device('van/15'),
    device('6', '0007'),
  ]
  const roster = await createDirectory(devices, [line(text)])
  const meant = roster.meant(text).map(({ id }) => id)
  expect(meant).toEqual(ids)
  const routed = [...roster.devices()].filter(({ stays }) => stays.length > 0).map(({ id }) => id)
  expect(routed).toEqual(meant)
})

it('a line no longer applies to a device once another one has its name in other letters', async () => {
  const roster = await createDirectory([device('1', 'Van 12')], [line('van 12')])
  expect(roster.find('1')?.stays).toHaveLength(1)
  const changed = roster.apply({ devices: [['2', device('2', 'VAN 12')]] })
  expect([...changed].toSorted()).toEqual(['1', '2'])
  expect([roster.find('1')?.stays, roster.find('2')?.stays]).toEqual([[], []])
  roster.apply({ devices: [['2', undefined]] })
  expect(roster.find('1')?.stays).toHaveLength(1)
})

it.each([
  ['Van12', ': did you mean Van 12?'],
  ['Wan 12', ': did you mean Van 12?'],
  ['Truck-3', ': did you mean Truck 3?'],
  ['Vann 14', ': did you mean Van 14?'],
  ['Van 13', ': did you mean Van 12?'],
  ['Van 99', ''],
  ['35630704244101', ': did you mean 356307042441013?'],
  ['nothing', ''],
])('a line with the unknown id %s is reported%s', async (text, hint) => {
  const roster = await createDirectory(
    [device('1', 'Van 12'), device('2', 'Van 14'), device('3', 'Truck 3'), device('356307042441013')],
    [],
  )
  const [{ message }] = await unresolved([{ ...line(text), at: 0, line: 2 }], roster)
  expect(inEnglish(message)).toBe(`no device has the id or the name "${text}"${hint}`)
})
