import { expect, it } from 'vitest'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { UdpSessions } from '../../../src/gateway/wire/udp-sessions.ts'
import { stopTime } from '../../support/listen.ts'

function sessions(most: number) {
  const made = new UdpSessions(most, 60_000)
  const speak = (name: string, device?: string, isConfigured = true) => {
    const session = made.find(name) ?? new Conversation('udp', name)
    if (session.device === undefined) Object.assign(session, { device, isConfigured })
    made.remember(session)
  }
  const known = (...names: string[]) => names.filter((name) => made.find(name)?.device === name)
  return { speak, known }
}

it('UDP sessions forget the oldest if there are too many', () => {
  const { speak, known } = sessions(4)
  for (const name of ['a', 'b', 'c', 'd']) speak(name, name)
  expect(known('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd'])
  speak('e', 'e')
  expect(known('a', 'b', 'c', 'd', 'e')).toEqual(['c', 'd', 'e'])
})

it('UDP sessions keep a device that speaks now and then, however many others come', () => {
  const { speak, known } = sessions(4)
  speak('van', 'van')
  for (let i = 0; i < 1000; i++) {
    speak(String(i), String(i))
    if (i % 2 === 0) speak('van')
  }
  expect(known('van')).toEqual(['van'])
})

it('UDP sessions of unknown devices push out none of a configured device', () => {
  const { speak, known } = sessions(20)
  speak('van', 'van')
  for (let i = 0; i < 1000; i++) speak(`port ${i}`, 'stranger', false)
  expect(known('van')).toEqual(['van'])
})

it('UDP sessions are kept for unknown devices', () => {
  const { speak, known } = sessions(20)
  speak('van', 'van', false)
  expect(known('van')).toEqual(['van'])
})

it('UDP sessions are not kept for unidentified peers', () => {
  const { speak, known } = sessions(2)
  speak('van', 'van')
  for (let i = 0; i < 1000; i++) speak(String(i))
  expect(known('van')).toEqual(['van'])
})

it('a UDP address that two devices use has no session until that of the first would be forgotten', async () => {
  const pass = stopTime()
  const made = new UdpSessions(4, 60_000)
  const say = (device: string) => {
    const session = Object.assign(made.find('a') ?? new Conversation('udp', 'a'), { device, isConfigured: true })
    made.remember(session)
    return made.find('a')?.device
  }
  expect([say('van'), made.sharing('a')]).toEqual(['van', undefined])
  await pass(40_000)
  expect([say('thief'), say('thief'), made.sharing('a')]).toEqual([undefined, undefined, ['van', 'thief']])
  await pass(19_000)
  expect(say('thief')).toBeUndefined()
  await pass(2000)
  expect([say('thief'), made.sharing('a')]).toEqual(['thief', undefined])
})
