import { colours } from '../parts/colours.ts'
import { type Atlas, type Outline, PIECE, type Town } from './atlas.ts'
import type { Sheet } from './canvas-layer.ts'
import { NameWriter } from './names.ts'

/** Draws water, land, borders, rivers, and as many names of towns as there is room for. */
export function drawBase(sheet: Sheet, atlas: Atlas): undefined {
  const { context, width, height, zoom } = sheet
  const { water, land, coast, frontier } = colours()
  context.fillStyle = water
  context.fillRect(0, 0, width, height)
  const countries = atlas.countries(zoom >= NEAR_ZOOM)
  if (!countries) return
  tracePath(sheet, countries.land, true)
  context.fillStyle = land
  context.fill('evenodd')
  context.strokeStyle = coast
  context.lineWidth = 1
  context.lineJoin = 'round'
  context.stroke()
  if (zoom < WATERS_END) drawWaters(sheet, atlas)
  if (zoom < BORDERS_END) {
    context.globalAlpha = Math.min(1, BORDERS_END - zoom)
    tracePath(sheet, countries.borders, false)
    context.strokeStyle = frontier
    context.setLineDash([3, 3])
    context.stroke()
    context.setLineDash([])
    context.globalAlpha = 1
  }
  drawTowns(sheet, atlas)
}

/** Lakes and rivers, which fade away before one sees that they are 1:50 million. */
function drawWaters(sheet: Sheet, atlas: Atlas): void {
  const waters = atlas.waters()
  if (!waters) return
  const { context, zoom } = sheet
  const { water, coast } = colours()
  context.globalAlpha = Math.min(1, WATERS_END - zoom)
  for (const { zoom: from, lines } of waters.rivers) {
    if (zoom < from) continue
    tracePath(sheet, lines, false)
    context.strokeStyle = coast
    context.lineWidth = zoom >= from + 2 ? 1.25 : 0.75
    context.stroke()
  }
  context.lineWidth = 1
  tracePath(sheet, waters.lakes, true)
  context.fillStyle = water
  context.fill('evenodd')
  context.stroke()
  context.globalAlpha = 1
}

/** Begins a path with the parts of these lines that are in view. */
function tracePath(sheet: Sheet, lines: readonly Outline[], closes: boolean): void {
  sheet.context.beginPath()
  for (const line of lines) if (isInView(sheet, line.box)) trace(sheet, line, closes)
}

/**
 * Adds a line to the path, without the points that are less than a pixel from the last one. A piece that is out of view is cut short
 * to a straight line, which is out of view as well.
 */
function trace(sheet: Sheet, { points, pieces }: Outline, closes: boolean): void {
  const { context, left, top, world } = sheet
  let [lastX, lastY] = [Infinity, Infinity]
  for (let piece = 0; piece < pieces.length; piece += 4) {
    const from = (piece / 4) * 2 * PIECE
    const end = isInView(sheet, pieces, piece) ? Math.min(from + 2 * PIECE, points.length) : from + 2
    for (let i = from; i < end; i += 2) {
      const [x, y] = [points[i] * world - left, points[i + 1] * world - top]
      if (i > from && Math.abs(x - lastX) < 1 && Math.abs(y - lastY) < 1) continue
      if (i === 0) context.moveTo(x, y)
      else context.lineTo(x, y)
      lastX = x
      lastY = y
    }
  }
  const last = points.length - 2
  if (closes) context.closePath()
  else context.lineTo(points[last] * world - left, points[last + 1] * world - top)
}

function isInView({ width, height, left, top, world }: Sheet, boxes: Float64Array, at = 0): boolean {
  return (
    boxes[at + 2] * world >= left &&
    boxes[at] * world <= left + width &&
    boxes[at + 3] * world >= top &&
    boxes[at + 1] * world <= top + height
  )
}

function drawTowns(sheet: Sheet, atlas: Atlas): void {
  const { width, height, left, top, world, zoom } = sheet
  const box = [left / world, top / world, (left + width) / world, (top + height) / world] as const
  const lists = [atlas.towns()?.towns ?? [], ...(zoom < VILLAGES_ZOOM ? [] : atlas.villages(...box))]
  const fewest = 10 * 2 ** (zoom < VILLAGES_ZOOM ? 12.6 - 1.25 * zoom : 1.35 - 2.5 * (zoom - VILLAGES_ZOOM))
  const writer = new NameWriter(sheet)
  for (const towns of lists)
    for (const { name, x, y, people } of towns) {
      if (people < fewest || writer.isFull) break
      const isInBox = x >= box[0] && y >= box[1] && x <= box[2] && y <= box[3]
      if (isInBox) writer.write({ name, x, y, size: isLarge(people, zoom) ? 13 : 11, hasDot: true })
    }
}

function isLarge(people: Town['people'], zoom: number): boolean {
  return people > 1000 || (zoom > 9 && people > 200)
}

/** From this zoom on outlines are 1:10 million. */
const NEAR_ZOOM = 5.5
/** From this zoom on a border of 1:10 million would put vans into the wrong country. */
const BORDERS_END = 11
/** From this zoom on lakes and rivers are not drawn. */
const WATERS_END = 10
const VILLAGES_ZOOM = 9
