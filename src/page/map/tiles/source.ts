import { EtagMismatch, FetchSource, PMTiles, type RangeResponse, type Source } from 'pmtiles'
import { stream } from '../../data/client.ts'
import { tileJsonAttribution } from '../tile-json.ts'

/** The place of a tile: its zoom, and column `x` and row `y` there. */
export interface TilePlace {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** A tile server, or an archive of tiles. */
export interface TileSource {
  /**
   * Resolves to the bytes of a tile: a vector tile or a picture. Undefined: there is no such tile. @throws if the source does
   * not answer, or answers something else
   */
  tile(z: number, x: number, y: number): Promise<ArrayBuffer | undefined>
  /** Resolves to the highest zoom that has tiles; undefined if unknown. */
  maxZoom(): Promise<number | undefined>
  /** Resolves to the tiles' own attribution, HTML; undefined if they have none. */
  attribution(): Promise<string | undefined>
}

/** The source of vector tiles at a URL: a template with `{z}`, `{x}` and `{y}`, or a PMTiles archive, also the admin port's own. */
export function tileSource(url: string): TileSource {
  return new URL(url, location.href).pathname.endsWith('.pmtiles') ? new Archive(url) : new TileServer(url)
}

class TileServer implements TileSource {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async tile(z: number, x: number, y: number): Promise<ArrayBuffer | undefined> {
    const numbers: Readonly<Record<string, number>> = { z, x, y }
    const response = await fetch(this.#url.replaceAll(/\{([zxy])\}/g, (_, name: string) => String(numbers[name])))
    if (ABSENT.has(response.status)) return undefined
    if (!response.ok) throw new Error(String(response.status))
    const bytes = await response.arrayBuffer()
    return bytes.byteLength === 0 ? undefined : unzipped(bytes)
  }

  async maxZoom(): Promise<undefined> {
    return undefined
  }

  attribution(): Promise<string | undefined> {
    return tileJsonAttribution(this.#url)
  }
}

class Archive implements TileSource {
  readonly #url: string
  #archive: PMTiles

  constructor(url: string) {
    this.#url = url
    this.#archive = this.#open()
  }

  tile(z: number, x: number, y: number): Promise<ArrayBuffer | undefined> {
    return this.#ask(async (archive) => (await archive.getZxy(z, x, y))?.data)
  }

  maxZoom(): Promise<number> {
    return this.#ask(async (archive) => (await archive.getHeader()).maxZoom)
  }

  async attribution(): Promise<string | undefined> {
    const metadata = (await this.#ask((archive) => archive.getMetadata())) as { attribution?: unknown } | undefined
    return typeof metadata?.attribution === 'string' ? metadata.attribution : undefined
  }

  /** An archive object keeps its error, so the next question needs a new one. */
  async #ask<Answer>(question: (archive: PMTiles) => Promise<Answer>): Promise<Answer> {
    const archive = this.#archive
    try {
      return await question(archive)
    } catch (error) {
      if (archive === this.#archive) this.#archive = this.#open()
      throw error
    }
  }

  #open(): PMTiles {
    return new PMTiles(this.#url.startsWith('/') ? new OwnFile(this.#url) : new FetchSource(this.#url))
  }
}

/** A file of the admin port, which wants the token. */
class OwnFile implements Source {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  getKey(): string {
    return this.#path
  }

  async getBytes(offset: number, length: number, signal?: AbortSignal, known?: string): Promise<RangeResponse> {
    const headers = { range: `bytes=${offset}-${offset + length - 1}` }
    const response = await stream(this.#path, { signal, headers })
    const etag = response.headers.get('etag') ?? undefined
    // The file has been replaced.
    if (known && etag !== known) throw new EtagMismatch()
    return { data: await response.arrayBuffer(), etag }
  }
}

/** Some servers do not declare that their tiles are compressed. */
async function unzipped(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(bytes)
  if (first !== 0x1f || second !== 0x8b) return bytes
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
}

const ABSENT = new Set([204, 404, 410])
