import { useEffect, useState } from 'preact/hooks'

/** Where the user is: `#/vans/356307042441013?tab=map` is the view `vans` of an id. */
export interface PageAddress {
  readonly view: string
  readonly id?: string
  readonly query: URLSearchParams
}

function placeNow(): PageAddress {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view, ...rest] = path.split('/')
  return {
    view: view || 'now',
    id: rest.length > 0 ? decoded(rest.join('/')) : undefined,
    query: new URLSearchParams(query),
  }
}

/** A link to a view: `href('vans', { id, query: { condition: 'silent' } })`. */
export function href(
  view: string,
  { id, query = {} }: { id?: string; query?: Record<string, string | undefined> } = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(given).toString()
  return `#/${view === 'now' ? '' : view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search ? `?${search}` : ''}`
}

/** Goes to a link of `href`; `replace`: without an entry in the history, for filters. */
export function go(to: string, { replace = false } = {}): void {
  if (!replace) return void (location.hash = to.slice(1))
  history.replaceState(null, '', location.pathname + to)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

export function usePlace(): PageAddress {
  const [place, setPlace] = useState(placeNow)
  useEffect(() => {
    const change = () => setPlace(placeNow())
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return place
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
