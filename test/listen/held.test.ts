import { describe, expect, it } from 'vitest'
import { createHeld } from '../../src/listen/held.ts'

/** Somebody who, once ended, is written down. */
function holders() {
  const ended: string[] = []
  const somebody = (name: string, device?: string) => ({
    heldBytes: 0,
    session: { device },
    end: (reason: string) => void ended.push(`${name} ${reason}`),
  })
  return { ended, somebody }
}

describe('what is held', () => {
  it('may be so much in all', () => {
    const { ended, somebody } = holders()
    const held = createHeld(1000)
    for (const name of ['a', 'b']) held.hold(somebody(name), 500)
    expect(ended).toEqual([])
  })

  it('is taken from whoever holds most, not from whoever comes last', () => {
    const { ended, somebody } = holders()
    const held = createHeld(1000)
    const hog = somebody('hog')
    held.hold(somebody('early'), 100)
    held.hold(hog, 700)
    held.hold(somebody('late'), 300)
    expect([ended, hog.heldBytes]).toEqual([['hog memory'], 0])
  })

  it('is taken first from those who have not said who they are', () => {
    const { ended, somebody } = holders()
    const held = createHeld(1000)
    held.hold(somebody('stranger'), 200)
    held.hold(somebody('known', '1'), 700)
    held.hold(somebody('late', '2'), 150)
    expect(ended).toEqual(['stranger memory'])
  })

  it('is taken until an eighth is free', () => {
    const { ended, somebody } = holders()
    const held = createHeld(760)
    for (let i = 1; i <= 9; i++) held.hold(somebody(String(i)), 80 + i)
    expect(ended).toEqual(['9 memory', '8 memory'])
    held.hold(somebody('more'), 100)
    expect(ended).toHaveLength(2)
  })

  it('is free again when it is given back', () => {
    const { ended, somebody } = holders()
    const held = createHeld(1000)
    const one = somebody('one')
    for (const bytes of [900, 0, 900, 400]) held.hold(one, bytes)
    held.hold(somebody('other'), 600)
    expect(ended).toEqual([])
  })
})
