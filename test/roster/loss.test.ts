import { expect, it } from 'vitest'
import { devicesLosing, lossOf } from '../../src/roster/roster.ts'
import { createDirectory } from '../support/roster.ts'

const NOW = { from: 0, until: 1 }
const fleet = (routed: number) =>
  createDirectory(
    Array.from({ length: 3 }, (_, id) => {
      return { id: `${id}`, company_id: '7', courier_id: '4', route_id: id < routed ? '1' : undefined, source: '' }
    }),
    [],
  )

it.each([
  [3, 1, '2 of the 3 devices that have one'],
  [1, 0, 'the only device that has one'],
  [2, 1, undefined],
  [0, 0, undefined],
])('of %i routed devices of which %i stay so, "%s" is lost', async (routed, staying, text) => {
  const [before, after] = [await fleet(routed), await fleet(staying)]
  const lost = devicesLosing([...before.devices()], after, NOW).length
  expect(lossOf(lost, before.devices(), NOW)).toBe(text)
})
