import { expect, it } from 'vitest'
import { lossText } from '../../src/roster/loss.ts'

it.each([
  [{ lost: 2, routed: 3 }, '2 of the 3 devices that have one'],
  [{ lost: 1, routed: 1 }, 'the only device that has one'],
])('%j is said as "%s"', (loss, text) => expect(lossText(loss)).toBe(text))
