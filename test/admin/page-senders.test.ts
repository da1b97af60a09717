import { expect, it } from 'vitest'
import type { ArrivalJson } from '../../src/admin/schemas/arrivals.ts'
import type { DeviceRowJson } from '../../src/admin/schemas/devices.ts'
import { sendersOf } from '../../src/page/views/arrivals/senders.ts'

const VAN: DeviceRowJson = {
  id: '356307042441013',
  name: 'Van 12',
  configured: true,
  mapping: 'mapped',
  condition: 'moving',
  findings: [],
}
const hex = (text: string) => Buffer.from(text).toString('hex')

/** Returns an arrival at this minute of the hour. */
function row(minute: number, { address = '203.0.113.7', ...rest }: Partial<ArrivalJson> = {}): ArrivalJson {
  const at = new Date(Date.UTC(2026, 10, 23, 6, minute)).toISOString()
  return {
    at,
    address: `${address}:${40_000 + minute}`,
    transport: 'tcp',
    port: 5023,
    evidence: [],
    waiting: 0,
    ...rest,
  }
}

const shown = (rows: readonly ArrivalJson[]) =>
  sendersOf(rows, [VAN]).map(({ latest, connections, firstAt, van }) => [
    latest.at.slice(14, 16),
    connections,
    firstAt.slice(14, 16),
    van?.name,
  ])

it('the page shows connections from one address to one port as one sender, with the first and the last', () => {
  const other = row(4, { address: '203.0.113.8' })
  const elsewhere = row(2, { port: 5000 })
  expect(shown([row(5), other, row(3), elsewhere, row(1)])).toEqual([
    ['05', 3, '01', undefined],
    ['04', 1, '04', undefined],
    ['02', 1, '02', undefined],
  ])
})

it.each([
  ['as text', hex('*HQ,356307042441013,V1,061500,A#')],
  ['as text behind letters', hex('imei:X356307042441013,tracker')],
  ['as digits of four bits', '78780d010356307042441013000150310d0a'],
  ['as digits of four bits with a mark behind', '2424356307042441013f99'],
])('the page recognises a van by its id in the bytes of a sender, %s, from all addresses', (_, bytes) => {
  const rows = [row(5, { bytes }), row(3, { bytes, address: '203.0.113.8' }), row(1)]
  expect(shown(rows)).toEqual([
    ['05', 2, '03', 'Van 12'],
    ['01', 1, '01', undefined],
  ])
})

it('the page shows a sender under the name of its van, even if its bytes have no id', () => {
  expect(shown([row(5, { device: VAN.id }), row(3, { device: `0${VAN.id}x` })])).toEqual([
    ['05', 1, '05', 'Van 12'],
    ['03', 1, '03', undefined],
  ])
})

it('the page shows two vans behind one address as two senders, and also two unconfigured devices', () => {
  const rows = [row(5, { bytes: hex(VAN.id) }), row(4), row(3, { device: 'a' }), row(2, { device: 'b' })]
  expect(shown(rows)).toHaveLength(4)
})
