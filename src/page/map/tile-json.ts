/** The parts of a TileJSON document that are used. */
interface TileJson {
  readonly tiles?: unknown
  readonly attribution?: unknown
}

/**
 * Resolves to the attribution of a tile server, HTML, from its TileJSON; undefined if it has none. Looks for the document
 * where servers have it: beside the folder of the zooms, in it, or at the folder itself.
 */
export async function tileJsonAttribution(template: string): Promise<string | undefined> {
  const known = found.get(template) ?? find(template)
  found.set(template, known)
  return known
}

const found = new Map<string, Promise<string | undefined>>()

async function find(template: string): Promise<string | undefined> {
  const url = new URL(template)
  const folder = decodeURI(url.pathname).split('/{z}/')[0].replace(/\/$/, '')
  if (folder.includes('{')) return undefined
  const paths = [...(folder === '' ? [] : [`${folder}.json`]), `${folder}/tiles.json`, folder || '/']
  for (const path of paths) {
    const { tiles, attribution } = await read(`${url.origin}${path}${url.search}`)
    if (Array.isArray(tiles)) return typeof attribution === 'string' ? attribution : undefined
  }
  return undefined
}

/** An empty object if there is no such document. */
async function read(url: string): Promise<TileJson> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return response.ok ? (((await response.json()) as TileJson | null) ?? {}) : {}
  } catch {
    return {}
  }
}

const ANSWER_MS = 10_000
