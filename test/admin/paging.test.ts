import * as fc from 'fast-check'
import { beforeAll, expect, it, vi } from 'vitest'
import { type ListPlace, pageOf } from '../../src/admin/paging.ts'
import { turnsDuring } from '../support/turns.ts'

const ORDER = { list: 'test', placeOf: (place: ListPlace) => place }

beforeAll(() => {
  // The clock advances by a millisecond at each reading, on a machine of any speed.
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now++)
})

/** Reads all pages of a list. */
async function pagesOf(places: readonly ListPlace[], max_results: number): Promise<ListPlace[][]> {
  const pages: ListPlace[][] = []
  for (let page_token: string | undefined; ; ) {
    const page = await pageOf(places, ORDER, { max_results, page_token })
    pages.push(page.results)
    if (page.next_page_token === undefined) return pages
    page_token = page.next_page_token
  }
}

it('pages of a list contain each item once in order, and all but the last are full', () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.nat(3), fc.string({ maxLength: 2 })), { selector: JSON.stringify, maxLength: 60 }),
      fc.integer({ min: 1, max: 10 }),
      async (places, size) => {
        const pages = await pagesOf(places, size)
        const sorted = places.toSorted(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
        const starts = Array.from({ length: Math.max(1, Math.ceil(places.length / size)) }, (_, page) => page * size)
        expect(pages).toEqual(starts.map((start) => sorted.slice(start, start + size)))
      },
    ),
  ))

it.each([
  ['in order', (n: number) => n],
  ['in reverse order', (n: number) => -n],
  ['in no order', (n: number) => (n * 7919) % 500_009],
])('building a page of a long list stored %s lets other work run in between', async (_, rankOf) => {
  const places = Array.from({ length: 500_000 }, (__, n): ListPlace => [rankOf(n), ''])
  const { turns, result } = await turnsDuring(() => pageOf(places, ORDER, { max_results: 1000 }))
  expect(turns).toBeGreaterThan(2)
  const ranks = places.map(([rank]) => rank).toSorted((a, b) => a - b)
  expect(result.results.map(([rank]) => rank)).toEqual(ranks.slice(0, 1000))
})

it.each([
  ['the end of a long list', { max_results: 1, page_token: token(499_998) }, () => true],
  ['a few items of a long list', { max_results: 1 }, ([rank]: ListPlace) => rank === 499_999],
])('searching for %s lets other work run in between', async (_, page, isListed) => {
  const places = Array.from({ length: 500_000 }, (__, n): ListPlace => [n, ''])
  const { turns, result } = await turnsDuring(() => pageOf(places, { ...ORDER, isListed }, page))
  expect(turns).toBeGreaterThan(2)
  expect(result).toEqual({ results: [[499_999, '']] })
})

function token(rank: number): string {
  return Buffer.from(`test\n${rank}\n`).toString('base64url')
}
