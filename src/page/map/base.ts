import { readAsset } from '../data/assets.ts'
import { colours } from '../parts/colours.ts'
import { mercator, type Sheet } from './canvas-layer.ts'

/** A line in widths of the world: x, y, x, y, …; and what it covers. */
interface Outline {
  readonly points: Float64Array
  readonly box: readonly [left: number, top: number, right: number, bottom: number]
}

interface Town {
  readonly name: string
  readonly x: number
  readonly y: number
  /** Thousands. */
  readonly people: number
}

/** Land, borders and towns of the world. */
export interface Atlas {
  readonly land: readonly Outline[]
  readonly borders: readonly Outline[]
  /** The towns with the most people first. */
  readonly towns: readonly Town[]
}

let loading: Promise<Atlas> | undefined

/** The atlas, loaded once. */
export function loadAtlas(): Promise<Atlas> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

interface OutlinesFile {
  readonly world: number
  readonly land: readonly number[][]
  readonly borders: readonly number[][]
}

type PlacesFile = Readonly<Record<'lat' | 'lon' | 'population', readonly number[]>> & {
  readonly names: readonly string[]
}

async function load(): Promise<Atlas> {
  const [outlines, places] = await Promise.all([
    readAsset<OutlinesFile>('outlines.json'),
    readAsset<PlacesFile>('places.json'),
  ])
  const { names, lat, lon, population } = places
  return {
    land: outlines.land.map((line) => unpacked(line, outlines.world)),
    borders: outlines.borders.map((line) => unpacked(line, outlines.world)),
    towns: names.map((name, i) => ({ name, ...mercator(lat[i] / 1000, lon[i] / 1000), people: population[i] })),
  }
}

function unpacked(steps: readonly number[], world: number): Outline {
  const points = new Float64Array(steps.length)
  const box: [number, number, number, number] = [2, 2, -1, -1]
  let [x, y] = [0, 0]
  for (let i = 0; i < steps.length; i += 2) {
    x += steps[i] / world
    y += steps[i + 1] / world
    points[i] = x
    points[i + 1] = y
    box[0] = Math.min(box[0], x)
    box[1] = Math.min(box[1], y)
    box[2] = Math.max(box[2], x)
    box[3] = Math.max(box[3], y)
  }
  return { points, box }
}

/** Draws water, land, borders, and as many names of towns as there is room for. */
export function drawBase(sheet: Sheet, atlas: Atlas | undefined): undefined {
  const { context, width, height } = sheet
  const { water, land, coast, frontier } = colours()
  context.fillStyle = water
  context.fillRect(0, 0, width, height)
  if (!atlas) return
  context.beginPath()
  for (const line of atlas.land) trace(sheet, line, true)
  context.fillStyle = land
  context.fill('evenodd')
  context.strokeStyle = coast
  context.lineWidth = 1
  context.stroke()
  context.beginPath()
  for (const line of atlas.borders) trace(sheet, line, false)
  context.strokeStyle = frontier
  context.setLineDash([3, 3])
  context.stroke()
  context.setLineDash([])
  drawGrid(sheet)
  drawTowns(sheet, atlas.towns)
}

/** Faint lines of longitude and latitude, so that one sees how far one moves. */
function drawGrid({ context, width, height, left, top, world, zoom }: Sheet): void {
  const step = world / 2 ** Math.round(zoom + 1.5) / 1.5
  context.beginPath()
  for (let x = step - (left % step); x < width; x += step) {
    context.moveTo(Math.round(x) + 0.5, 0)
    context.lineTo(Math.round(x) + 0.5, height)
  }
  for (let y = step - (top % step); y < height; y += step) {
    context.moveTo(0, Math.round(y) + 0.5)
    context.lineTo(width, Math.round(y) + 0.5)
  }
  context.strokeStyle = colours().grid
  context.stroke()
}

/** Adds a line to the path, without the points that are less than a pixel from the last one. */
function trace({ context, width, height, left, top, world }: Sheet, { points, box }: Outline, closes: boolean): void {
  const [x0, y0, x1, y1] = box
  if (x1 * world < left || x0 * world > left + width || y1 * world < top || y0 * world > top + height) return
  let [lastX, lastY] = [Infinity, Infinity]
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i] * world - left, points[i + 1] * world - top]
    if (i > 0 && Math.abs(x - lastX) < 1 && Math.abs(y - lastY) < 1) continue
    if (i === 0) context.moveTo(x, y)
    else context.lineTo(x, y)
    lastX = x
    lastY = y
  }
  if (closes) context.closePath()
}

function drawTowns({ context, width, height, left, top, world, zoom }: Sheet, towns: readonly Town[]): void {
  const { label, halo } = colours()
  const taken: (readonly [x: number, y: number, right: number])[] = []
  const fewest = 2 ** (12.6 - 1.25 * zoom) * 10
  context.textBaseline = 'middle'
  context.lineJoin = 'round'
  for (const { name, x, y, people } of towns) {
    if (people < fewest || taken.length >= MOST_TOWNS) break
    const [px, py] = [x * world - left, y * world - top]
    if (px < 0 || py < 0 || px > width || py > height) continue
    const size = people > 1000 || (zoom > 9 && people > 200) ? 13 : 11
    const right = px + 10 + name.length * size * 0.56
    if (taken.some((other) => Math.abs(other[1] - py) < 20 && other[0] - 8 < right && other[2] + 8 > px)) continue
    taken.push([px, py, right])
    context.font = `${size > 11 ? 600 : 500} ${size}px Inter, system-ui, sans-serif`
    context.strokeStyle = halo
    context.lineWidth = 3
    context.strokeText(name, px + 6, py)
    context.fillStyle = label
    context.fillText(name, px + 6, py)
    context.beginPath()
    context.arc(px, py, 1.75, 0, 2 * Math.PI)
    context.fill()
  }
}

const MOST_TOWNS = 60
