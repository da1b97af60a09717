import { expect, it } from 'vitest'
import { markersOf, type PlacedVan } from '../../src/page/map/markers.ts'

const ZOOM = 10
/** Widths of the world that are one pixel of the view. */
const PIXEL = 1 / (256 * 2 ** ZOOM)

function placed(id: string, px: number, tone: PlacedVan['tone'] = 'moving'): PlacedVan {
  return { van: { id } as PlacedVan['van'], tone, x: 0.5 + px * PIXEL, y: 0.3 }
}

const shown = (vans: readonly PlacedVan[], alone?: string, zoom = ZOOM) =>
  markersOf(vans, zoom, alone).map(({ vans: own, tone }) => [own.map(({ van }) => van.id).join(), tone])

it('the map joins three or more vans that would cover each other, and no others', () => {
  expect(shown([placed('a', 0), placed('b', 10), placed('c', 20), placed('far', 100)])).toEqual([
    ['a,b,c', 'moving'],
    ['far', 'moving'],
  ])
  expect(shown([placed('a', 0), placed('b', 10)])).toHaveLength(2)
})

it.each([
  ['silent', ['moving', 'gps_old', 'silent', 'moving']],
  ['refused', ['moving', 'refused', 'moving', 'moving']],
  ['no_route', ['parked', 'parked', 'no_route']],
  ['parked', ['parked', 'moving', 'parked']],
] as const)('the map shows the worst state of a cluster, or the most frequent: %s', (condition, all) => {
  expect(shown(all.map((each, n) => placed(String(n), n, each)))).toEqual([[all.map((_, n) => n).join(), condition]])
})

it('the map puts the chosen van in no cluster, and no van at the nearest zoom levels', () => {
  const vans = ['a', 'b', 'c', 'd'].map((id) => placed(id, 0))
  expect(shown(vans, 'b')).toEqual([
    ['a,c,d', 'moving'],
    ['b', 'moving'],
  ])
  expect(shown(vans, undefined, 16)).toHaveLength(4)
})
