import { expect, it, onTestFinished, vi } from 'vitest'
import { HandshakeTurns } from '../../../src/gateway/admit/handshake-turns.ts'
import { readClientHello } from '../../../src/gateway/admit/tls.ts'
import { until } from '../../support/listen.ts'

/** A handshake that takes as long as a whole turn. */
function work(): void {
  const end = performance.now() + 5
  while (performance.now() < end);
}

it('TLS handshakes of a network with many wait for those of other networks', async () => {
  const turns = new HandshakeTurns()
  const started: string[] = []
  const start = (network: string) => turns.add(network, () => (started.push(network), work()))
  for (let n = 0; n < 50; n++) start('flood')
  start('van 1')
  start('van 2')
  start('van 1')
  await until(() => expect(started.length).toBe(53))
  expect(started.slice(0, 6)).toEqual(['flood', 'flood', 'van 1', 'van 2', 'flood', 'van 1'])
})

it('TLS handshakes leave the event loop to others after each turn', async () => {
  const turns = new HandshakeTurns()
  let [started, others] = [0, 0]
  const other = setInterval(() => others++, 1)
  for (let n = 0; n < 20; n++) turns.add('flood', () => (started++, work()))
  await until(() => expect(started).toBe(20))
  clearInterval(other)
  expect(others).toBeGreaterThanOrEqual(19)
})

it('starts a TLS handshake at once if no other waits', async () => {
  // The clock stands, so that no turn is used up on a slow machine.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  const turns = new HandshakeTurns()
  for (let n = 0; n < 3; n++) {
    let isStarted = false
    turns.add('van', () => (isStarted = true))
    expect(isStarted).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
  }
})

const hello = Buffer.concat([Buffer.from('1603010004', 'hex'), Buffer.alloc(4)])

it('recognises the first record of a TLS handshake at its last byte', () => {
  for (let length = 1; length < hello.length; length++)
    expect(readClientHello(hello.subarray(0, length))).toBe('incomplete')
  expect(readClientHello(hello)).toEqual({ length: 0 })
  expect(readClientHello(Buffer.concat([hello, hello]))).toEqual({ length: 0 })
})

it.each(['GET / HTTP/1.1', '\x15\x03\x01', '\x16\x03\x01\x20\x00'])(
  'does not take %j for the first record of a TLS handshake',
  (text) => expect(readClientHello(Buffer.from(text, 'latin1'))).toBe('invalid'),
)
