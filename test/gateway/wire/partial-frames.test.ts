import { expect, it } from 'vitest'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'

/** Senders of incomplete frames, and which of them were ended. */
function senders() {
  const ended: string[] = []
  const sender = (name: string, device?: string) => ({
    partialBytes: 0,
    session: { device },
    abort: (reason: string) => void ended.push(`${name} ${reason}`),
  })
  return { ended, sender }
}

it('ends no sender when incomplete frames use exactly the whole budget', () => {
  const { ended, sender } = senders()
  const pressure = new Backpressure({ maxPartialBytes: 1000 })
  for (const name of ['a', 'b']) pressure.setPartial(sender(name), 500)
  expect(ended).toEqual([])
})

it('ends the sender with most bytes of incomplete frames, not the last one', () => {
  const { ended, sender } = senders()
  const pressure = new Backpressure({ maxPartialBytes: 1000 })
  const hog = sender('hog')
  pressure.setPartial(sender('early'), 100)
  pressure.setPartial(hog, 700)
  pressure.setPartial(sender('late'), 300)
  expect([ended, hog.partialBytes]).toEqual([['hog memory'], 0])
})

it('ends unidentified senders of incomplete frames first', () => {
  const { ended, sender } = senders()
  const pressure = new Backpressure({ maxPartialBytes: 1000 })
  pressure.setPartial(sender('unknown'), 200)
  pressure.setPartial(sender('known', '1'), 700)
  pressure.setPartial(sender('late', '2'), 150)
  expect(ended).toEqual(['unknown memory'])
})

it('frees an eighth of the budget for incomplete frames when it ends senders', () => {
  const { ended, sender } = senders()
  const pressure = new Backpressure({ maxPartialBytes: 760 })
  for (let i = 1; i <= 9; i++) pressure.setPartial(sender(String(i)), 80 + i)
  expect(ended).toEqual(['9 memory', '8 memory'])
  pressure.setPartial(sender('more'), 100)
  expect(ended).toHaveLength(2)
})

it('does not count bytes of incomplete frames that are gone', () => {
  const { ended, sender } = senders()
  const pressure = new Backpressure({ maxPartialBytes: 1000 })
  const one = sender('one')
  for (const bytes of [900, 0, 900, 400]) pressure.setPartial(one, bytes)
  pressure.setPartial(sender('other'), 600)
  expect(ended).toEqual([])
})
