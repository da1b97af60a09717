import * as leaflet from 'leaflet'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import type { TrackPoint } from '../data/replay.ts'
import { whereIs } from '../data/van.ts'
import { colours, onColourScheme } from '../parts/colours.ts'
import { words } from '../words/index.ts'
import { CanvasLayer, type Sheet } from './canvas-layer.ts'
import { configuredTiles, Ground } from './ground.ts'
import type { Marker } from './markers.ts'
import { drawTrack } from './track.ts'
import { VansOnMap } from './vans-on-map.ts'

interface MapProps {
  readonly label: string
  readonly vans: readonly DeviceRowJson[]
  /** The id of the van that is marked. */
  readonly chosen?: string
  readonly choose?: (van: DeviceRowJson | undefined) => void
  /** The way of one van. */
  readonly track?: readonly TrackPoint[]
  /** A change of this value makes the map show all vans or the whole track again. */
  readonly fitKey?: string
}

/** A map of vans on the included outlines, or on the tiles of `page.tiles`. */
export function MapView(props: MapProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const shown = useRef<ShownMap>(undefined)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const map = new ShownMap(box.current!, latest)
    shown.current = map
    return () => map.remove()
  }, [])
  useEffect(() => shown.current?.update(), [props.vans, props.chosen, props.track])
  useEffect(() => shown.current?.fit(), [props.fitKey])
  return <div class="map" ref={box} role="application" aria-label={props.label} aria-description={words.map.keys} />
}

/** The Leaflet map of a component, and its layers. */
class ShownMap {
  readonly #map: leaflet.Map
  readonly #props: { readonly current: MapProps }
  readonly #vans = new VansOnMap()
  readonly #ground: Ground
  readonly #over: CanvasLayer
  readonly #stops: (() => void)[] = []
  #isFitted = false

  constructor(box: HTMLElement, props: { readonly current: MapProps }) {
    this.#props = props
    const tiles = configuredTiles()
    this.#map = leaflet.map(box, {
      zoomAnimation: false,
      // Between two zooms tiles would be blurred.
      zoomSnap: tiles ? 1 : 0.25,
      zoomDelta: tiles ? 1 : 0.75,
      wheelPxPerZoomLevel: 110,
      minZoom: 2,
      maxZoom: 18,
      maxBounds: [
        [-85, -200],
        [85, 200],
      ],
      attributionControl: false,
      zoomControl: false,
    })
    leaflet.control
      .zoom({ position: 'topright', zoomInTitle: words.map.zoomIn, zoomOutTitle: words.map.zoomOut })
      .addTo(this.#map)
    this.#map.setView([50, 12], 4)
    const drawVans = (sheet: Sheet) => {
      const { track, chosen } = this.#props.current
      if (track) drawTrack(sheet, track)
      return this.#vans.draw(sheet, performance.now(), chosen)
    }
    this.#over = new CanvasLayer(drawVans, 'overlayPane').addTo(this.#map)
    this.#ground = new Ground(this.#map, tiles)
    // Above the attribution, because it is added later.
    leaflet.control.scale({ imperial: false, position: 'bottomright' }).addTo(this.#map)
    this.#stops.push(onColourScheme(() => this.#redraw()))
    this.#listen(box)
    this.update()
  }

  /** Takes over what the component has now. */
  update(): void {
    this.#vans.set(this.#props.current.vans, performance.now())
    if (!this.#isFitted) this.fit()
    this.#over.redraw()
  }

  /** Shows all vans with a position, or the whole track. */
  fit(): void {
    const { vans, track = [] } = this.#props.current
    const points = track.length > 0 ? track : vans.flatMap((van) => whereIs(van) ?? [])
    if (points.length === 0) return
    this.#isFitted = true
    const bounds = leaflet.latLngBounds(points.map(({ lat, lon }) => [lat, lon]))
    // Nearer, the built-in map has few names in view.
    const maxZoom = configuredTiles() ? 14 : 11
    this.#map.fitBounds(bounds, { padding: [48, 48], maxZoom, animate: false })
  }

  remove(): void {
    for (const stop of this.#stops) stop()
    this.#map.remove()
  }

  #listen(box: HTMLElement): void {
    this.#map.on('click', ({ containerPoint: { x, y } }) => this.#open(this.#vans.at(x, y)))
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.target !== box) return
      const { x, y } = this.#map.getSize().divideBy(2)
      this.#open(this.#vans.at(x, y, Infinity))
    })
    this.#map.on('mousemove', ({ containerPoint: { x, y } }) => {
      const marker = this.#vans.at(x, y)
      box.style.cursor = marker && (this.#props.current.choose || marker.vans.length > 1) ? 'pointer' : ''
    })
    const resizing = new ResizeObserver(() => this.#map.invalidateSize({ animate: false }))
    resizing.observe(box)
    this.#stops.push(() => resizing.disconnect())
    box.style.background = colours().water
  }

  /** Zooms in to the vans of a cluster; chooses a van. */
  #open(marker: Marker | undefined): void {
    if (!marker || marker.vans.length === 1) return this.#props.current.choose?.(marker?.vans[0].van)
    const points = marker.vans.flatMap(({ van }) => whereIs(van) ?? [])
    const bounds = leaflet.latLngBounds(points.map(({ lat, lon }) => [lat, lon]))
    const zoom = Math.max(this.#map.getBoundsZoom(bounds.pad(0.2)), this.#map.getZoom() + 1)
    this.#map.setView(bounds.getCenter(), Math.min(zoom, 18), { animate: false })
  }

  #redraw(): void {
    this.#vans.recolour()
    this.#ground.recolour()
    this.#over.redraw()
  }
}
