import { GAP_MS, type TrackPoint } from '../data/replay.ts'
import { colours } from '../parts/colours.ts'
import { mercator, type Sheet } from './canvas-layer.ts'

/** Draws the way of a van; a long time without positions is a dashed line. */
export function drawTrack({ context, left, top, world }: Sheet, track: readonly TrackPoint[]): void {
  const { accent, surface } = colours()
  const points = track.map(({ at, lat, lon }) => {
    const { x, y } = mercator(lat, lon)
    return { at, x: x * world - left, y: y * world - top }
  })
  context.lineJoin = 'round'
  context.lineCap = 'round'
  const stroke = (colour: string, width: number, isGap: boolean) => {
    context.beginPath()
    for (const [index, { at, x, y }] of points.entries()) {
      const before = points[index - 1]
      if (!before || at - before.at > GAP_MS !== isGap) continue
      context.moveTo(before.x, before.y)
      context.lineTo(x, y)
    }
    context.setLineDash(isGap ? [2, 6] : [])
    context.strokeStyle = colour
    context.lineWidth = width
    context.stroke()
    context.setLineDash([])
  }
  stroke(surface, 5, false)
  stroke(accent, 3, false)
  stroke(accent, 2, true)
  const [first] = points
  if (!first) return
  context.beginPath()
  context.arc(first.x, first.y, 4, 0, 2 * Math.PI)
  context.fillStyle = surface
  context.fill()
  context.strokeStyle = accent
  context.lineWidth = 2
  context.stroke()
}
