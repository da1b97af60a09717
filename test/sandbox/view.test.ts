import { expect, it } from 'vitest'
import { blockOf, lineOf, type PaintText, type View } from '../../src/sandbox/demo/view.ts'

const plain: PaintText = (_, text) => text

const VIEW: View = {
  phase: 'driving',
  elapsedMs: 12_345,
  drivingMs: 15_000,
  fleet: ['teltonika 7', 'gt06 3', 'h02 2', 'wialon 2', 'osmand 2', 'owntracks 2', 'fix 2'],
  expected: 300,
  progress: { phase: 'driving', vans: 20, sent: 240, acked: 150, troubled: 0 },
  status: { waiting: 9, parked: 0, held: 0, filtered: 0, delivered: 75 },
  history: [
    { delivered: 10, waiting: 4 },
    { delivered: 20, waiting: 2 },
    { delivered: 0, waiting: 0 },
  ],
}

it('the terminal view shows the progress of everything', () => {
  expect(blockOf(VIEW, 79, plain)).toEqual([
    '  waybridge demo                                           driving · 12 of 15 s',
    '',
    '  vans               20   teltonika 7  gt06 3       h02 2        wialon 2',
    '                          osmand 2     owntracks 2  fix 2',
    `  fixes sent        240   ${'━'.repeat(42)}${'─'.repeat(11)}`,
    `  acknowledged      150   ${'━'.repeat(27)}${'─'.repeat(26)}`,
    `  delivered          75   ${'━'.repeat(13)}${'─'.repeat(40)}`,
    '  waiting             9   █▄ ',
    '  rate           10.0/s   ▄█ ',
  ])
})

it('the terminal view shows a problem, cut to the width', () => {
  const progress = { ...VIEW.progress, troubled: 1, trouble: `connection closed by ${'x'.repeat(100)}` }
  const lines = blockOf({ ...VIEW, progress }, 79, plain)
  expect(lines.at(-1)).toMatch(/^ {2}1 van without an answer: connection closed by x+…$/)
  expect(Math.max(...lines.map(({ length }) => length))).toBe(79)
})

it.each([60, 80, 120, 200])('the terminal view is never wider than %i columns', (width) => {
  const history = Array.from({ length: 500 }, (_, index) => ({ delivered: index, waiting: 1 }))
  const lines = blockOf({ ...VIEW, history }, width, plain)
  expect(Math.max(...lines.map(({ length }) => length))).toBe(Math.min(width, 118))
})

it.each([
  [60, 25],
  [80, 15],
])('the terminal view fits 24 lines of %i columns with %i protocols', (width, count) => {
  const fleet = Array.from({ length: count }, (_, index) => `${index % 2 ? 'owntracks' : 'gt06'} ${index}`)
  const lines = blockOf({ ...VIEW, fleet }, width, plain)
  expect(lines.length).toBeLessThan(24)
  expect(Math.max(...lines.map(({ length }) => length))).toBe(width)
})

it('the terminal view shows dashes before the admin port has answered', () => {
  const lines = blockOf({ ...VIEW, status: undefined, history: [] }, 79, plain)
  expect(lines[6]).toBe(`  delivered           –   ${'─'.repeat(53)}`)
  expect(lines.at(-1)).toBe('  rate            0.0/s   ')
})

it('the line without a terminal shows the same figures', () => {
  expect(lineOf(VIEW)).toBe('12 s  driving: 20 vans, 240 fixes sent, 150 acknowledged, 75 delivered, 9 waiting, 10.0/s')
})

it('the line without a terminal shows a problem', () => {
  const progress = { ...VIEW.progress, troubled: 3, trouble: 'no answer' }
  expect(lineOf({ ...VIEW, progress, status: undefined })).toBe(
    '12 s  driving: 20 vans, 240 fixes sent, 150 acknowledged, no answer from the admin port, 10.0/s, 3 vans without an answer: no answer',
  )
})
