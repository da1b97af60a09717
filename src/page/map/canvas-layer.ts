import { DomUtil, Layer, type LeafletEventHandlerFn, type Map as LeafletMap } from 'leaflet'

/** The canvas of a layer: pixels of the view. Its upper left corner is at `left`, `top` in pixels of the world. */
export interface Sheet {
  readonly context: CanvasRenderingContext2D
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  /** Pixels that are the width of the world. */
  readonly world: number
  readonly zoom: number
  /** Pixels of the device that are one of the view. */
  readonly ratio: number
}

/** Draws a view. Returns after how many ms the next frame is wanted; undefined: once something changes. */
type Draw = (sheet: Sheet) => number | undefined

/** A Leaflet layer that draws the visible part of its content on one canvas, at most once a frame. */
export class CanvasLayer extends Layer {
  readonly #draw: Draw
  readonly #pane: 'tilePane' | 'overlayPane'
  readonly #canvas = document.createElement('canvas')
  #map: LeafletMap | undefined
  #frame: number | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param pane of Leaflet; the layer is below what the pane already has */
  constructor(draw: Draw, pane: 'tilePane' | 'overlayPane') {
    super()
    this.#draw = draw
    this.#pane = pane
    this.#canvas.className = 'leaflet-layer map-canvas'
  }

  override onAdd(map: LeafletMap): this {
    this.#map = map
    map.getPanes()[this.#pane].prepend(this.#canvas)
    this.#render()
    return this
  }

  override onRemove(): this {
    this.#cancel()
    this.#map = undefined
    this.#canvas.remove()
    return this
  }

  override getEvents(): Record<string, LeafletEventHandlerFn> {
    return { move: () => this.#render(), zoom: () => this.#render(), resize: () => this.#render() }
  }

  /** Draws in the next frame. */
  redraw(): void {
    this.#frame ??= requestAnimationFrame(() => this.#render())
  }

  #cancel(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    clearTimeout(this.#timer)
    this.#frame = undefined
    this.#timer = undefined
  }

  #render(): void {
    this.#cancel()
    const map = this.#map
    if (!map) return
    const { x: width, y: height } = map.getSize()
    const ratio = devicePixelRatio || 1
    const canvas = this.#canvas
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio)
      canvas.height = Math.round(height * ratio)
      canvas.style.width = `${width}px`
      canvas.style.height = `${height}px`
    }
    DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]))
    const context = canvas.getContext('2d')!
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    const { x: left, y: top } = map.getPixelBounds().min!
    const zoom = map.getZoom()
    const nextMs = this.#draw({ context, width, height, left, top, world: 256 * 2 ** zoom, zoom, ratio })
    if (nextMs === 0) this.redraw()
    // A frame is at most 16 ms after the timer.
    else if (nextMs !== undefined) this.#timer = setTimeout(() => this.redraw(), nextMs - 16)
  }
}

/** Where a place is in the Mercator projection, in widths of the world. */
export function mercator(lat: number, lon: number): { x: number; y: number } {
  const sine = Math.sin((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180)
  return { x: lon / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) }
}
