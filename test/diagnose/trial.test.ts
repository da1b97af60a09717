import { expect, it } from 'vitest'
import { needsLook, trialVerdict, type TriedFacts } from '../../src/diagnose/trial.ts'
import { inLanguage } from '../../src/texts/language.ts'
import { english } from '../../src/texts/text.ts'

const GOOD: TriedFacts = { positions: 10, not_understood: 0, answers_equal: 10, answers_different: 0 }
const device = (change: Partial<TriedFacts> = {}): TriedFacts => ({ ...GOOD, ...change })

it.each<[verdict: string, devices: TriedFacts[]]>([
  ['no tracker has come by way of the trial yet', []],
  ['2 of 2 devices understood, all answers equal', [device(), device()]],
  ['1 of 2 devices understood, all answers equal', [device(), device({ not_understood: 1 })]],
  [
    '1 of 1 devices understood, 1 device without a position yet, all answers equal',
    [device(), device({ positions: 0 })],
  ],
  [
    '2 devices without a position yet, no answer compared yet',
    Array(2).fill(device({ positions: 0, answers_equal: 0 })),
  ],
  ['1 of 1 devices understood, no answer compared yet', [device({ answers_equal: 0 })]],
  [
    '2 of 2 devices understood, 99.99 % of answers equal, 1 device differs: look',
    [device({ answers_equal: 99_999 }), device({ answers_equal: 0, answers_different: 1 })],
  ],
  [
    '2 of 2 devices understood, 50 % of answers equal, 2 devices differ: look',
    Array(2).fill(device({ answers_different: 10 })),
  ],
])('the verdict of a trial: %s', (verdict, devices) => {
  expect(english(trialVerdict(devices))).toBe(verdict)
  expect(inLanguage(trialVerdict(devices), 'de')).not.toMatch(/device|answer|understood/)
})

it('a device on trial needs a look if an answer differs or a frame is not understood', () => {
  expect([GOOD, device({ answers_different: 1 }), device({ not_understood: 1 })].map(needsLook)).toEqual([
    false,
    true,
    true,
  ])
})
