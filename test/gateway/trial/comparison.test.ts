import { describe, expect, it } from 'vitest'
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

describe('answers of an old server', () => {
  it('are equal, byte by byte', () => {
    const { found, hears, sends } = conversation()
    sends('login', 'hi')
    hears('hi')
    sends('fix', 'ok')
    hears('ok')
    expect(found).toEqual(['equal', 'equal'])
  })

  it('are equal when they come late, in the order of the frames', () => {
    const { found, hears, sends } = conversation()
    for (const n of [1, 2, 3]) sends(`fix ${n}`, `ok ${n}`)
    hears('ok 1o')
    expect(found).toEqual(['equal'])
    hears('k 2ok 3')
    expect(found).toEqual(['equal', 'equal', 'equal'])
  })

  it('are compared when ours is known after theirs has come', () => {
    const { comparison, found, hears, sends } = conversation()
    const sent = sends('login')
    hears('hi')
    expect(found).toEqual([])
    sent.ours = Buffer.from('hi')
    comparison.settled()
    expect(found).toEqual(['equal'])
  })

  it('differ, which is said once the tracker sends its next frame', () => {
    const { found, hears, sends } = conversation()
    sends('login', 'hi')
    hears('hel')
    hears('lo')
    expect(found).toEqual([])
    sends('fix', 'ok')
    hears('ok')
    expect(found).toEqual(['login: hi not hello', 'equal'])
  })

  it('are not said to differ while the rest of an answer may come', () => {
    const { found, hears, sends } = conversation()
    sends('login', 'hello')
    hears('hel')
    sends('fix', 'ok')
    hears('look')
    expect(found).toEqual(['equal', 'equal'])
  })

  it('differ if the old server answers what we do not', () => {
    const { comparison, found, hears, sends } = conversation()
    sends('ping', '')
    hears('pong')
    comparison.ended()
    expect(found).toEqual(['ping: – not pong'])
  })

  it('differ if it leaves out an answer, and the next one is compared again', () => {
    const { found, hears, sends } = conversation()
    sends('login', 'hi')
    sends('fix', 'ok')
    hears('ok')
    expect(found).toEqual(['login: hi not –', 'equal'])
  })

  it('differ if it says something unasked', () => {
    const { found, hears } = conversation()
    hears('AT+GPS')
    expect(found).toEqual(['–: – not AT+GPS'])
  })

  it('are nothing that is unasked while a frame is not cut from its stream yet', () => {
    const { found, hears, sends } = conversation()
    hears('hi', true)
    sends('login', 'hi')
    sends('fix', 'ok')
    hears('ok')
    expect(found).toEqual(['equal', 'equal'])
  })

  it('are not taken for the answer to a frame without one while a later one is not cut yet', () => {
    const { found, hears, sends } = conversation()
    sends('ping', '')
    hears('ok', true)
    sends('fix', 'ok')
    hears('')
    expect(found).toEqual(['equal'])
  })

  it('are equal if they differ in the time alone', () => {
    const { found, hears, sends } = conversation()
    sends('time', 'at 12:00', { timeBytes: new Set([6, 7]) })
    hears('at 12:34')
    sends('time', 'at 12:00', { timeBytes: new Set([6, 7]) })
    hears('at 13:00')
    sends('fix', 'ok')
    expect(found).toEqual(['equal', 'time: at 12:00 not at 13:00'])
  })

  it('of several frames are not compared any more once nobody can say whose they are', () => {
    const { found, hears, sends } = conversation()
    sends('fix 1', 'ok 1')
    sends('fix 2', 'ok 2')
    hears('no')
    sends('fix 3', 'ok 3')
    hears('ok 3')
    expect(found).toEqual(['fix 1: ok 1 not no'])
  })

  it('that do not come for a minute are missing; one that comes still later says nothing', () => {
    const { found, hears, sends } = conversation()
    sends('login', 'hi')
    sends('ping', '', { at: 59_000 })
    expect(found).toEqual([])
    sends('ping', '', { at: 60_001 })
    expect(found).toEqual(['login: hi not –'])
    hears('hi')
    expect(found).toHaveLength(1)
  })

  it('that were due when the connection ended are not compared', () => {
    const { comparison, found, sends } = conversation()
    sends('login', 'hi')
    comparison.ended()
    expect(found).toEqual([])
  })

  it('take a bounded memory', () => {
    const { found, hears, sends } = conversation()
    for (let n = 0; n < 200; n++) sends(`fix ${n}`, 'ok')
    hears('ok')
    expect(found).toEqual([])
  })
})
