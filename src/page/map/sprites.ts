import type { Tone } from '../data/van.ts'
import { colours } from '../parts/colours.ts'

/** A picture that is drawn once and copied to each place. */
export interface Sprite {
  readonly image: HTMLCanvasElement
  /** Pixels of the device. */
  readonly size: number
}

/** The pictures of vans and clusters, drawn when they are first needed, in the colours of the present scheme. */
export class Sprites {
  readonly #known = new Map<string, Sprite>()
  #palette = colours()
  #ratio = 0

  /** Forgets all pictures; the colours have changed. */
  clear(): void {
    this.#known.clear()
    this.#palette = colours()
  }

  get palette(): ReturnType<typeof colours> {
    return this.#palette
  }

  /** Sets the ratio of device pixels to page pixels. */
  scale(ratio: number): void {
    if (ratio !== this.#ratio) this.#known.clear()
    this.#ratio = ratio
  }

  /** Returns a drop that points in the driving direction (`heading`, degrees); a dot if that is undefined. */
  van(tone: Tone, radius: number, heading: number | undefined): Sprite {
    const step = heading === undefined ? -1 : Math.round(heading / HEADING_STEP) % (360 / HEADING_STEP)
    return this.#get(`${tone} ${radius} ${step}`, radius * 2 + 4, (context) => {
      context.beginPath()
      addShape(context, radius, step < 0 ? undefined : step * HEADING_STEP)
      context.lineWidth = 3
      context.strokeStyle = this.#palette.surface
      context.stroke()
      context.fillStyle = this.#palette.of(`c-${tone}`)
      context.fill()
    })
  }

  /** A disc with the number of its vans, framed in the colour of the tone. */
  cluster(tone: Tone, vans: number): Sprite {
    const text = vans < 1000 ? String(vans) : `${Math.floor(vans / 1000)}k`
    const radius = clusterRadius(vans)
    return this.#get(`cluster ${tone} ${text} ${radius}`, radius + 4, (context) => {
      context.beginPath()
      context.arc(0, 0, radius, 0, 2 * Math.PI)
      context.fillStyle = this.#palette.surface
      context.fill()
      context.beginPath()
      context.arc(0, 0, radius - 2, 0, 2 * Math.PI)
      context.lineWidth = 3
      context.strokeStyle = this.#palette.of(`c-${tone}`)
      context.stroke()
      context.fillStyle = this.#palette.text
      context.font = '650 11px Inter, system-ui, sans-serif'
      context.textAlign = 'center'
      context.textBaseline = 'middle'
      context.fillText(text, 0, 0.5)
    })
  }

  #get(key: string, reach: number, draw: (context: CanvasRenderingContext2D) => void): Sprite {
    const known = this.#known.get(key)
    if (known) return known
    const image = document.createElement('canvas')
    const size = 2 * Math.ceil(reach * this.#ratio)
    image.width = size
    image.height = size
    const context = image.getContext('2d')!
    context.setTransform(this.#ratio, 0, 0, this.#ratio, size / 2, size / 2)
    draw(context)
    const sprite = { image, size }
    this.#known.set(key, sprite)
    return sprite
  }
}

/** Pixels of the page. */
export function clusterRadius(vans: number): number {
  return vans < 10 ? 11 : vans < 100 ? 13 : 16
}

function addShape(context: CanvasRenderingContext2D, radius: number, heading: number | undefined): void {
  if (heading === undefined) {
    context.arc(0, 0, radius, 0, 2 * Math.PI)
    return
  }
  const angle = ((heading - 90) * Math.PI) / 180
  const tip = radius * 1.9
  context.moveTo(Math.cos(angle) * tip, Math.sin(angle) * tip)
  context.arc(0, 0, radius, angle + 0.9, angle + 2 * Math.PI - 0.9)
  context.closePath()
}

/** Degrees. */
const HEADING_STEP = 10
