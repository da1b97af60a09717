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

describe('the steps that the page shows for a tracker', () => {
  it('the steps that the page shows for a tracker have a note that does not say again what is left out already', async () => {
    const { note } = (await loadSetup('gps103'))!
    expect(note).toContain('Leave out the second and third SMS')
    expect(noteBeside(note!)).toBe('123456 is the password of a new device. The last one reports every 30 s.')
    expect(noteBeside('')).toBe('')
  })

  it('the steps that the page shows for a tracker have all values, and can be sent', async () => {
    expect(await stepsOf('h02')).toEqual([
      { text: '8030000 m2m  ', isWhole: true },
      { text: '8040000 gps.example.com 5013', isWhole: true },
      { text: '7100000', isWhole: true },
    ])
  })

  it('name what is missing, and cannot be sent then', async () => {
    const [apn, server] = await stepsOf('h02', { ...VALUES, apn: '', host: '' })
    expect(apn).toEqual({ text: '8030000 <apn>  ', isWhole: false })
    expect(server).toEqual({ text: '8040000 <host> 5013', isWhole: false })
    const [id] = await stepsOf('jt600')
    expect(id.isWhole).toBe(false)
  })

  it('set no user and password if the APN has none', async () => {
    expect((await stepsOf('gps103')).map(({ text }) => text)).not.toContain('apnuser123456 ')
    const withUser = await stepsOf('gps103', { ...VALUES, user: 'u', password: 'p' })
    expect(withUser.map(({ text }) => text)).toEqual(expect.arrayContaining(['apnuser123456 u', 'apnpasswd123456 p']))
  })

  it('the steps that the page shows for a tracker keep the two blanks before a command', async () => {
    expect((await stepsOf('teltonika'))[0].text).toMatch(/^ {2}setparam 2001:m2m;/)
  })

  it.each(protocolsWithSetup)('of %s leave no field open that is known', async (protocol) => {
    for (const { text } of await stepsOf(protocol, { ...VALUES, user: 'u', password: 'p' }))
      expect(text).not.toMatch(/\{\w+\}/)
  })
})

describe('the QR code of an SMS', () => {
  it('names the number without blanks and signs, and the text as it is', () => {
    expect(smsCode('+49 (171) 234-56', '  setparam 2004:a;b')).toBe('SMSTO:+4917123456:  setparam 2004:a;b')
  })

  it('the QR code of an SMS is the text alone without a number', () => {
    expect(smsCode(' ', 'APN,m2m#')).toBe('APN,m2m#')
  })
})

describe('the tracker that the page waits for', () => {
  const before = new Map(
    [rowOf('0356', '2026-11-29T08:00:00Z'), rowOf('7')].map((van) => [plain(van.id), van.last_heard?.at]),
  )
  const idsOf = (vans: readonly DeviceRowJson[], id: string) => heardSince(vans, before, id).map((van) => van.id)

  it('the tracker that the page waits for is the one of its id, once it sends again, also if others send', () => {
    const old = rowOf('0356', '2026-11-29T08:00:00Z')
    expect(idsOf([old, rowOf('7', '2026-11-29T09:00:00Z')], '356')).toEqual([])
    expect(idsOf([{ ...old, ...rowOf('0356', '2026-11-29T07:59:00Z') }], '356')).toEqual(['0356'])
  })

  it('the tracker that the page waits for is without an id each one that was never heard, and none that was', () => {
    const rows = [
      rowOf('0356', '2026-11-29T09:00:00Z'),
      rowOf('7', '2026-11-29T09:00:00Z'),
      rowOf('9', '2026-11-29T09:00:00Z'),
    ]
    expect(idsOf(rows, ' ')).toEqual(['7', '9'])
    expect(idsOf([rowOf('7')], '')).toEqual([])
  })
})
