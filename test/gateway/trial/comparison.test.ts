import { expect, it } from 'vitest'
import { AnswerComparison, type Compared, type SentFrame } from '../../../src/gateway/trial/comparison.ts'

const name = (bytes: Buffer) => bytes.toString() || '–'

/** A conversation: frames are sent, our answers become known, the old server answers. */
function conversation() {
  const found: string[] = []
  const comparison = new AnswerComparison((compared: Compared) => {
    if (compared.isEqual) found.push('equal')
    else found.push(`${name(compared.frame)}: ${name(compared.ours)} not ${name(compared.old)}`)
  })
  return {
    found,
    comparison,
    /** `ours`: our answer; undefined: it becomes known later. */
    sends(frame: string, ours?: string, { at = 0, timeBytes = new Set<number>() } = {}): SentFrame {
      const sent = {
        frame: Buffer.from(frame),
        at,
        ours: ours === undefined ? undefined : Buffer.from(ours),
        timeBytes: () => timeBytes,
      }
      comparison.sent(sent)
      return sent
    },
    hears: (text: string, isBehind = false) => comparison.heard(Buffer.from(text), isBehind),
  }
}

it('finds answers of the old server equal byte by byte', () => {
  const { found, hears, sends } = conversation()
  sends('login', 'hi')
  hears('hi')
  sends('fix', 'ok')
  hears('ok')
  expect(found).toEqual(['equal', 'equal'])
})

it('finds late answers of the old server equal, in the order of the frames', () => {
  const { found, hears, sends } = conversation()
  for (const n of [1, 2, 3]) sends(`fix ${n}`, `ok ${n}`)
  hears('ok 1o')
  expect(found).toEqual(['equal'])
  hears('k 2ok 3')
  expect(found).toEqual(['equal', 'equal', 'equal'])
})

it('compares an answer of the old server that comes before ours is known', () => {
  const { comparison, found, hears, sends } = conversation()
  const sent = sends('login')
  hears('hi')
  expect(found).toEqual([])
  sent.ours = Buffer.from('hi')
  comparison.settled()
  expect(found).toEqual(['equal'])
})

it('reports a different answer of the old server once the tracker sends its next frame', () => {
  const { found, hears, sends } = conversation()
  sends('login', 'hi')
  hears('hel')
  hears('lo')
  expect(found).toEqual([])
  sends('fix', 'ok')
  hears('ok')
  expect(found).toEqual(['login: hi not hello', 'equal'])
})

it('reports no difference while the rest of an answer may still come', () => {
  const { found, hears, sends } = conversation()
  sends('login', 'hello')
  hears('hel')
  sends('fix', 'ok')
  hears('look')
  expect(found).toEqual(['equal', 'equal'])
})

it('reports an answer of the old server to a frame that we do not answer', () => {
  const { comparison, found, hears, sends } = conversation()
  sends('ping', '')
  hears('pong')
  comparison.ended()
  expect(found).toEqual(['ping: – not pong'])
})

it('reports a missing answer of the old server, and compares the next one again', () => {
  const { found, hears, sends } = conversation()
  sends('login', 'hi')
  sends('fix', 'ok')
  hears('ok')
  expect(found).toEqual(['login: hi not –', 'equal'])
})

it('reports bytes that the old server sends unasked', () => {
  const { found, hears } = conversation()
  hears('AT+GPS')
  expect(found).toEqual(['–: – not AT+GPS'])
})

it('does not report bytes as unasked while a frame is not yet cut from its stream', () => {
  const { found, hears, sends } = conversation()
  hears('hi', true)
  sends('login', 'hi')
  sends('fix', 'ok')
  hears('ok')
  expect(found).toEqual(['equal', 'equal'])
})

it('does not assign an answer to a frame without one while a later frame is not yet cut', () => {
  const { found, hears, sends } = conversation()
  sends('ping', '')
  hears('ok', true)
  sends('fix', 'ok')
  hears('')
  expect(found).toEqual(['equal'])
})

it('finds answers equal that differ in the time alone', () => {
  const { found, hears, sends } = conversation()
  sends('time', 'at 12:00', { timeBytes: new Set([6, 7]) })
  hears('at 12:34')
  sends('time', 'at 12:00', { timeBytes: new Set([6, 7]) })
  hears('at 13:00')
  sends('fix', 'ok')
  expect(found).toEqual(['equal', 'time: at 12:00 not at 13:00'])
})

it('stops comparing answers of several frames once they cannot be told apart', () => {
  const { found, hears, sends } = conversation()
  sends('fix 1', 'ok 1')
  sends('fix 2', 'ok 2')
  hears('no')
  sends('fix 3', 'ok 3')
  hears('ok 3')
  expect(found).toEqual(['fix 1: ok 1 not no'])
})

it('reports an answer as missing after a minute, and ignores it if it comes later', () => {
  const { found, hears, sends } = conversation()
  sends('login', 'hi')
  sends('ping', '', { at: 59_000 })
  expect(found).toEqual([])
  sends('ping', '', { at: 60_001 })
  expect(found).toEqual(['login: hi not –'])
  hears('hi')
  expect(found).toHaveLength(1)
})

it('does not compare answers that were due when the connection ended', () => {
  const { comparison, found, sends } = conversation()
  sends('login', 'hi')
  comparison.ended()
  expect(found).toEqual([])
})

it('stops comparing once very many frames wait for an answer', () => {
  const { found, hears, sends } = conversation()
  for (let n = 0; n < 200; n++) sends(`fix ${n}`, 'ok')
  hears('ok')
  expect(found).toEqual([])
})
