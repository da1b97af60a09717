import { counted, joined, say, type Text } from '../texts/text.ts'

/** Figures of a device on a trial. */
export interface TriedFacts {
  readonly positions: number
  /** Frames that could not be read, or only in part. */
  readonly not_understood: number
  readonly answers_equal: number
  readonly answers_different: number
}

/** Whether somebody should look at a device before it is switched. */
export function needsLook({ answers_different, not_understood }: TriedFacts): boolean {
  return answers_different > 0 || not_understood > 0
}

/** Pure: what a trial comes to. `312 of 312 devices understood, 99.97 % of answers equal, 2 devices differ: look` */
export function trialVerdict(devices: readonly TriedFacts[]): Text {
  const judged = devices.filter(({ not_understood, positions }) => positions > 0 || not_understood > 0)
  const silent = devices.length - judged.length
  if (devices.length === 0) return say('no tracker has come by way of the trial yet')
  const understood = judged.filter(({ not_understood }) => not_understood === 0).length
  const differing = devices.filter(({ answers_different }) => answers_different > 0).length
  return joined(
    [
      judged.length === 0 ? [] : say('{} of {} devices understood', understood, judged.length),
      silent === 0 ? [] : counted(silent, '{} device without a position yet', '{} devices without a position yet'),
      answersText(devices),
      differing === 0 ? [] : counted(differing, '{} device differs: look', '{} devices differ: look'),
    ].flat(),
    ', ',
  )
}

function answersText(devices: readonly TriedFacts[]): Text {
  const equal = sumOf(devices.map(({ answers_equal }) => answers_equal))
  const all = equal + sumOf(devices.map(({ answers_different }) => answers_different))
  if (all === 0) return say('no answer compared yet')
  if (equal === all) return say('all answers equal')
  // Rounds down, so that 100 % appears only if none differ.
  return say('{} % of answers equal', Math.floor((equal / all) * 10_000) / 100)
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
