import { expect, it } from 'vitest'
import { effectOf, lossOf } from '../../src/roster/roster.ts'
import { inEnglish } from '../support/texts.ts'
import { createDirectory } from '../support/roster.ts'

const NOW = { from: 0, until: 1 }
const fleet = (routed: number) =>
  Array.from({ length: 3 }, (_, id) => {
    return { id: `${id}`, company_id: '7', courier_id: '4', route_id: id < routed ? '1' : undefined, source: '' }
  })

it.each([
  [3, 1, '2 of the 3 devices that have one'],
  [1, 0, 'the only device that has one'],
  [2, 1, undefined],
  [0, 0, undefined],
])('if %i devices have a route and %i keep it, the loss is "%s"', async (routed, staying, text) => {
  const before = await createDirectory(fleet(routed), [])
  const { losing } = await effectOf({ devices: fleet(staying).map((device) => [device.id, device]) }, before, NOW)
  expect(inEnglish(lossOf(losing.length, before.devices(), NOW))).toBe(text)
})
