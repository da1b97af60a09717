import { describe, expect, it } from 'vitest'
import { loadSetup, protocolsWithSetup } from '../../protocols/setups.ts'
import type { DeviceRowJson } from '../../src/admin/schemas/devices.ts'
import { filledSteps, noteBeside, smsCode } from '../../src/page/views/point/fill.ts'
import { heardSince, plain } from '../../src/page/views/point/heard.ts'

const VALUES = { host: 'gps.example.com', port: '5013', apn: 'm2m', user: '', password: '' }
const stepsOf = async (protocol: string, values = VALUES) => {
  const { steps } = (await loadSetup(protocol))!
  return filledSteps({ steps: [...steps] }, values)
}

function rowOf(id: string, at?: string): DeviceRowJson {
  return {
    id,
    configured: true,
    mapping: 'mapped',
    condition: 'never',
    findings: [],
    ...(at && { last_heard: { at, transport: 'tcp' as const, remote: '' } }),
  }
}

it('the note beside the set-up steps of a tracker leaves out what the steps already leave out', async () => {
  const { note } = (await loadSetup('gps103'))!
  expect(note).toContain('Leave out the second and third SMS')
  expect(noteBeside(note!)).toBe('123456 is the password of a new device. The last one reports every 30 s.')
  expect(noteBeside('')).toBe('')
})

it('the set-up steps of a tracker contain all values, and can be sent', async () => {
  expect(await stepsOf('h02')).toEqual([
    { text: '8030000 m2m  ', isWhole: true },
    { text: '8040000 gps.example.com 5013', isWhole: true },
    { text: '7100000', isWhole: true },
  ])
})

it('the set-up steps of a tracker name a missing value, and cannot be sent then', async () => {
  const [apn, server] = await stepsOf('h02', { ...VALUES, apn: '', host: '' })
  expect(apn).toEqual({ text: '8030000 <apn>  ', isWhole: false })
  expect(server).toEqual({ text: '8040000 <host> 5013', isWhole: false })
  const [id] = await stepsOf('jt600')
  expect(id.isWhole).toBe(false)
})

it('the set-up steps of a tracker set no user and password if the APN has none', async () => {
  expect((await stepsOf('gps103')).map(({ text }) => text)).not.toContain('apnuser123456 ')
  const withUser = await stepsOf('gps103', { ...VALUES, user: 'u', password: 'p' })
  expect(withUser.map(({ text }) => text)).toEqual(expect.arrayContaining(['apnuser123456 u', 'apnpasswd123456 p']))
})

it('the set-up steps of a tracker keep two blanks in front of a command', async () => {
  expect((await stepsOf('teltonika'))[0].text).toMatch(/^ {2}setparam 2001:m2m;/)
})

it.each(protocolsWithSetup)('the set-up steps of %s leave no known field open', async (protocol) => {
  for (const { text } of await stepsOf(protocol, { ...VALUES, user: 'u', password: 'p' }))
    expect(text).not.toMatch(/\{\w+\}/)
})

it('the QR code of an SMS contains the number without blanks and signs, and the unchanged text', () => {
  expect(smsCode('+49 (171) 234-56', '  setparam 2004:a;b')).toBe('SMSTO:+4917123456:  setparam 2004:a;b')
})

it('the QR code of an SMS without a number contains only the text', () => {
  expect(smsCode(' ', 'APN,m2m#')).toBe('APN,m2m#')
})

describe('the tracker that the page waits for', () => {
  const before = new Map(
    [rowOf('0356', '2026-11-29T08:00:00Z'), rowOf('7')].map((van) => [plain(van.id), van.last_heard?.at]),
  )
  const idsOf = (vans: readonly DeviceRowJson[], id: string) => heardSince(vans, before, id).map((van) => van.id)

  it('the page recognises the expected tracker by its id when it sends again, even if others send', () => {
    const old = rowOf('0356', '2026-11-29T08:00:00Z')
    expect(idsOf([old, rowOf('7', '2026-11-29T09:00:00Z')], '356')).toEqual([])
    expect(idsOf([{ ...old, ...rowOf('0356', '2026-11-29T07:59:00Z') }], '356')).toEqual(['0356'])
  })

  it('the page without an id shows each tracker that was never heard before', () => {
    const rows = [
      rowOf('0356', '2026-11-29T09:00:00Z'),
      rowOf('7', '2026-11-29T09:00:00Z'),
      rowOf('9', '2026-11-29T09:00:00Z'),
    ]
    expect(idsOf(rows, ' ')).toEqual(['7', '9'])
    expect(idsOf([rowOf('7')], '')).toEqual([])
  })
})
