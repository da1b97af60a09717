/*
 * Supermate and BONOVO trackers. No specification is known: inferred from frames. TCP, text, numbers in hexadecimal:
 *
 *   2:I:n:*,x,E,A,YYMMDD,hhmmss,yyyyyyyy,oooooooo,SSSS,CCCC,…#
 *
 *   I  IMEI       E  event: UP, XT, BJ     y, o  degrees × 600,000, bit 31: south, west     S  knots × 100
 *   n  index      A  A: valid, V: not      C     degrees × 100
 *
 *   Answer: #1:I:1:*,00000000,UP,<year month day>,<hour minute second>#, of now, in hexadecimal
 */
import { type Draft, endsWith, heading, knots, type Session, textProtocol } from '../kit/index.ts'

const hex = (text: string) => Number.parseInt(text, 16)
const EIGHT = '[0-9A-Fa-f]{8}'

export default textProtocol({
  name: 'supermate',
  devices: 'Supermate and BONOVO trackers',
  acknowledges: 'fixes',
  port: 5108,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    date: { like: '[0-9A-Fa-f]{6}', read: readDate },
    time: { like: '[0-9A-Fa-f]{6}', read: readTime },
    latitude: { like: EIGHT, read: (text: string, draft: Draft) => void (draft.latitude = angle(text)) },
    longitude: { like: EIGHT, read: (text: string, draft: Draft) => void (draft.longitude = angle(text)) },
    speed: {
      like: '[0-9A-Fa-f]{4}',
      read: (text: string, draft: Draft) => void (draft.speed = knots(hex(text) / 100)),
    },
    direction: {
      like: '[0-9A-Fa-f]{4}',
      read: (text: string, draft: Draft) => void (draft.heading = heading(hex(text) / 100)),
    },
  },
  lines: [
    {
      like: '2:{imei}:{any}:*,{any},{any},{valid},{date},{time},{latitude},{longitude},{speed},{direction}[,{any}]',
      fix: (draft, session) => draft.fix(session),
      answer,
    },
    { like: '2:{imei}:{any}', unknown: 'type' },
  ],
})

function readDate(text: string, draft: Draft): void {
  draft.year = 2000 + hex(text.slice(0, 2))
  draft.month = hex(text.slice(2, 4))
  draft.day = hex(text.slice(4))
}

function readTime(text: string, draft: Draft): void {
  draft.clock = ((hex(text.slice(0, 2)) * 60 + hex(text.slice(2, 4))) * 60 + hex(text.slice(4))) * 1000
}

/** Degrees; bit 31 is the sign. */
function angle(text: string): number {
  const value = (hex(text) & 0x7fff_ffff) / 600_000
  return hex(text) >= 0x8000_0000 ? -value : value
}

const two = (value: number) => value.toString(16).padStart(2, '0')

function answer({ device }: Draft, { now }: Session): string {
  const at = new Date(now)
  const date = at.getUTCFullYear().toString(16) + two(at.getUTCMonth() + 1) + two(at.getUTCDate())
  const time = two(at.getUTCHours()) + two(at.getUTCMinutes()) + two(at.getUTCSeconds())
  return `#1:${device}:1:*,00000000,UP,${date},${time}#`
}
