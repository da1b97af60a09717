import * as leaflet from 'leaflet'
import { words } from '../words/index.ts'
import { Atlas } from './atlas.ts'
import { Attribution, type Credit, creditsIn } from './attribution.ts'
import { drawBase } from './base.ts'
import { CanvasLayer } from './canvas-layer.ts'
import { tileJsonAttribution } from './tile-json.ts'
import type { VectorLayer } from './tiles/layer.ts'

/** Returns the tiles of `page.tiles`: a URL, or the path of the admin port for a PMTiles file. Undefined: there are none. */
export function configuredTiles(): string | undefined {
  return settingOf('tiles')
}

function settingOf(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="waybridge-${name}"]`)?.content
}

/** The map below the vans: tiles, or if there are none, the map that is built into the page. */
export class Ground {
  readonly #map: leaflet.Map
  readonly #tiles: string | undefined
  readonly #attribution: Attribution
  #base: CanvasLayer | undefined
  #vector: VectorLayer | undefined
  #names: CanvasLayer | undefined
  #note: leaflet.Control | undefined

  constructor(map: leaflet.Map, tiles: string | undefined) {
    this.#map = map
    this.#tiles = tiles
    this.#attribution = new Attribution(map)
    if (!tiles) this.#addBase()
    else if (isVector(tiles)) void this.#addVector(tiles)
    else this.#follow(leaflet.tileLayer(tiles, { maxZoom: 18, noWrap: true }), () => tileJsonAttribution(tiles))
  }

  /** Draws in the present colours. */
  recolour(): void {
    this.#base?.redraw()
    this.#vector?.redraw()
    this.#names?.redraw()
  }

  #addBase(): void {
    if (this.#base) return
    const atlas = new Atlas(() => this.#base?.redraw())
    this.#base = new CanvasLayer((sheet) => drawBase(sheet, atlas), 'tilePane').addTo(this.#map)
    this.#attribution.set('ground', BUILT_IN)
  }

  async #addVector(tiles: string): Promise<void> {
    let isRemoved = false
    this.#map.on('unload', () => (isRemoved = true))
    const [{ VectorLayer: Layer }, { tileSource }] = await Promise.all([
      import('./tiles/layer.ts'),
      import('./tiles/source.ts'),
    ])
    if (isRemoved) return
    const source = tileSource(tiles)
    const layer = new Layer(source, {
      absent: () => this.#addBase(),
      changed: () => this.#names?.redraw(),
    })
    this.#vector = layer
    this.#names = new CanvasLayer((sheet) => layer.drawNames(sheet), 'overlayPane').addTo(this.#map)
    this.#follow(layer, () => source.attribution())
  }

  /**
   * Shows tiles with their attribution, and reports if none arrives for the whole view: the built-in map is then shown.
   * @param attribution the attribution in the tiles
   */
  #follow(layer: leaflet.GridLayer, attribution: () => Promise<string | undefined>): void {
    let [came, failed, isCredited] = [0, 0, false]
    layer.on('loading', () => ([came, failed] = [0, 0]))
    layer.on('tileload', () => {
      came++
      if (!isCredited) void this.#credit(attribution)
      isCredited = true
    })
    layer.on('tileerror', () => {
      failed++
      this.#addBase()
    })
    layer.on('load', () => this.#say(came === 0 && failed > 0))
    layer.addTo(this.#map)
  }

  async #credit(attribution: () => Promise<string | undefined>): Promise<void> {
    const configured = settingOf('attribution')
    if (configured !== undefined) return this.#attribution.set('tiles', [{ text: configured }])
    const said = creditsIn((await attribution().catch(() => undefined)) ?? '')
    const { host } = new URL(this.#tiles!, location.href)
    const known = said.length > 0 || host === location.host ? said : [{ text: words.map.tilesOf(host) }]
    this.#attribution.set('tiles', known)
  }

  #say(isAway: boolean): void {
    if (isAway === (this.#note !== undefined)) return
    if (!isAway) {
      this.#note?.remove()
      this.#note = undefined
      return
    }
    const note = document.createElement('p')
    note.className = 'map-note'
    note.role = 'status'
    const { pathname, host } = new URL(this.#tiles!, location.href)
    note.textContent = words.map.noTiles(this.#tiles!.startsWith('/') ? pathname.slice(1) : host)
    this.#note = new leaflet.Control({ position: 'topleft' })
    this.#note.onAdd = () => note
    this.#note.addTo(this.#map)
  }
}

/** Natural Earth is in the public domain; GeoNames asks for this. */
const BUILT_IN: readonly Credit[] = [
  { text: 'Natural Earth', href: 'https://www.naturalearthdata.com/' },
  { text: ' · ' },
  { text: 'GeoNames', href: 'https://www.geonames.org/' },
  { text: ', ' },
  { text: 'CC BY 4.0', href: 'https://creativecommons.org/licenses/by/4.0/' },
]

/** Whether the page draws the tiles itself. */
function isVector(tiles: string): boolean {
  return /\.(?:mvt|pbf|pmtiles)$/.test(new URL(tiles, location.href).pathname)
}
