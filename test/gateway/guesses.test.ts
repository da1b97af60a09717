import { expect, it } from 'vitest'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { observations } from '../../src/observe/observations.ts'
import { inEnglish } from '../support/texts.ts'

const VAN = '356307042441013'
const S = 1000

/** Guesses as fast as possible for so many seconds. Returns how many secrets are checked. */
function guess(delays: GuessDelays, address: string, seconds: number): number {
  let looked = 0
  for (let now = 0; now < seconds * S; now += 100) {
    if (delays.isDelayed(VAN, address, now)) continue
    delays.failed(VAN, address, now)
    looked++
  }
  return looked
}

it('a guesser has five tries, then one after 1, 2, 4 … s, then one a minute', () => {
  expect(guess(new GuessDelays(), '192.0.2.7', 60)).toBe(5 + 6)
  expect(guess(new GuessDelays(), '192.0.2.7', 3600)).toBe(5 + 7 + 58)
})

it('a guesser delays its own network, and neither another network nor another device', () => {
  const delays = new GuessDelays()
  for (let tries = 0; tries < 20; tries++) delays.failed(VAN, '192.0.2.7', 0)
  expect(delays.isDelayed(VAN, '192.0.2.200', 1)).toBe(true)
  expect(delays.isDelayed(VAN, '192.0.3.7', 1)).toBe(false)
  expect(delays.isDelayed('1', '192.0.2.7', 1)).toBe(false)
  expect(delays.isDelayed(VAN, '192.0.2.7', 61 * S)).toBe(false)
})

it('wrong secrets are forgotten after an hour', () => {
  const delays = new GuessDelays()
  for (let tries = 0; tries < 20; tries++) delays.failed(VAN, '192.0.2.7', 0)
  delays.failed(VAN, '192.0.2.7', 3601 * S)
  expect(delays.isDelayed(VAN, '192.0.2.7', 3601 * S + 1)).toBe(false)
})

it('reports the network of a guesser, and never the secrets that it tried', () => {
  const delays = new GuessDelays()
  for (let tries = 0; tries < 6; tries++) delays.failed('9123', '192.0.2.7', 0)
  const found = inEnglish(observations.current()).filter(
    ({ code, subject }) => code === 'guessing' && subject.device === '9123',
  )
  expect(found).toMatchObject([{ count: 1, evidence: ['6 wrong secrets from 192.0.2.0/24'] }])
})
