import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { MOST_CPU_MS } from '../support/cost.ts'
import { fuzz } from './run.ts'

it('damaged frames are messages or DecodeErrors, with finite numbers, within their CPU (`npm run fuzz` goes on)', async () => {
  const all = await loadProtocols()
  const { frames, messages, refused, faults } = await fuzz(
    { seed: 1, frames: 25_000, protocols: all, mostMs: MOST_CPU_MS },
    all,
  )
  expect(faults).toEqual([])
  expect([frames >= 25_000, messages > frames / 20, refused > frames / 20]).toEqual([true, true, true])
})
