import * as z from 'zod'
import { yieldToEventLoop } from '../async.ts'
import { ApiRefusal } from '../http/refusal.ts'

const NO_SIZE = 'expected a whole number from 1 to 1000'

/** `max_results` (1 to 1,000, default 100) and `page_token` of a list's query. */
export const PageQuery = z.object({
  max_results: z
    .string(NO_SIZE)
    .regex(/^\d{1,4}$/, NO_SIZE)
    .transform(Number)
    .refine((size) => size >= 1 && size <= 1000, NO_SIZE)
    .default(100)
    .meta({ type: 'integer', minimum: 1, maximum: 1000 }),
  page_token: z.string('expected one next_page_token').optional(),
})
export type PageQuery = z.infer<typeof PageQuery>

/** The position of an item in its list: by rank, the smallest first, then by name. */
export type ListPlace = readonly [rank: number, name: string]

interface Listing<Item> {
  /** Names the list and its order; a page token holds it. */
  readonly list: string
  readonly placeOf: (item: Item) => ListPlace
  /** Default: all. */
  readonly isListed?: (item: Item) => boolean
}

/**
 * Resolves to the requested page of a list. A token is the position of the last item of a page; the next page begins right
 * after that position, whatever was added or removed in between. Other work of the process can run in between. @throws
 * ApiRefusal 400 for a token of another list
 */
export async function pageOf<Item>(
  items: Iterable<Item>,
  listing: Listing<Item>,
  { max_results, page_token }: PageQuery,
) {
  const { list } = listing
  const after = page_token === undefined ? BEFORE_ALL : readToken(page_token, list)
  const left = await firstOf(items, listing, { after, count: max_results + 1 })
  const results = left.slice(0, max_results).map(({ item }) => item)
  return { results, next_page_token: left[max_results] && token(list, left[max_results - 1].place) }
}

/** As `pageOf`, of items that are in order already: it costs what the page and the items that are not listed cost. */
export async function pageOfOrdered<Item>(
  items: readonly Item[],
  { list, placeOf, isListed = () => true }: Listing<Item>,
  { max_results, page_token }: PageQuery,
) {
  const after = page_token === undefined ? BEFORE_ALL : readToken(page_token, list)
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(placeOf(items[middle]), after) <= 0) low = middle + 1
    else high = middle
  }
  const results: Item[] = []
  for (let at = low; at < items.length; at++) {
    // To ask for the time costs more than to look at an item.
    const pause = at % AT_ONCE === 0 ? yieldToEventLoop() : undefined
    if (pause) await pause
    if (!isListed(items[at])) continue
    if (results.length === max_results)
      return { results, next_page_token: token(list, placeOf(results[max_results - 1])) }
    results.push(items[at])
  }
  return { results, next_page_token: undefined }
}

/** Returns the first `count` items, in order. Sorting a whole long list for each page would take several times as long. */
async function firstOf<Item>(
  items: Iterable<Item>,
  { placeOf, isListed = () => true }: Listing<Item>,
  { after, count }: { readonly after: ListPlace; readonly count: number },
) {
  type Placed = { readonly item: Item; readonly place: ListPlace }
  const inOrder = (some: Placed[]) => some.toSorted((a, b) => compare(a.place, b.place)).slice(0, count)
  let first: Placed[] = []
  let last: ListPlace = BEHIND_ALL
  let seen = 0
  for (const item of items) {
    const pause = ++seen % AT_ONCE === 0 ? yieldToEventLoop() : undefined
    if (pause) await pause
    if (!isListed(item)) continue
    const place = placeOf(item)
    if (compare(place, after) <= 0 || compare(place, last) > 0) continue
    first.push({ item, place })
    if (first.length < 2 * count) continue
    first = inOrder(first)
    last = first[count - 1].place
  }
  return inOrder(first)
}

/** Returns the answer to a token of another list. */
export function wrongToken(): ApiRefusal {
  return new ApiRefusal(
    400,
    'page_token: not a token of this list in this order; send the next_page_token of the previous page',
  )
}

/** Orders two places. */
export function compare([rank, name]: ListPlace, [otherRank, otherName]: ListPlace): number {
  return rank - otherRank || (name < otherName ? -1 : name > otherName ? 1 : 0)
}

function token(list: string, [rank, name]: ListPlace): string {
  return Buffer.from(`${list}\n${rank}\n${name}`).toString('base64url')
}

function readToken(text: string, list: string): ListPlace {
  const [of, rank, ...name] = Buffer.from(text, 'base64url').toString().split('\n')
  if (of !== list || name.length === 0) throw wrongToken()
  return [Number(rank), name.join('\n')]
}

const AT_ONCE = 64
const BEFORE_ALL: ListPlace = [-Infinity, '']
const BEHIND_ALL: ListPlace = [Infinity, '']
