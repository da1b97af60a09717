import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { type Framer, type Protocol, trimEnd, unescape } from '../../protocols/kit/index.ts'
import { casesOf, type ProtocolCases } from '../support/protocol-cases.ts'
import { framesOfParts } from '../support/rough.ts'
import { corrected } from '../support/vectors/corrections.ts'
import { differences, differenceText } from '../support/vectors/differences.ts'
import { type VectorResult, vectorResults } from '../support/vectors/results.ts'
import { streamsOf, vectorFamilies, vectorsFolder } from '../support/vectors/vectors.ts'
import { withEscapedReplies } from '../support/vectors/wire.ts'

if (!vectorFamilies()) {
  console.warn(`No vectors at ${vectorsFolder}: the frames of real devices are not tested.`)
  it.skip(`vectors (none at ${vectorsFolder})`, () => undefined)
}

for (const protocol of vectorFamilies() ? await loadProtocols() : []) {
  const cases = await casesOf(protocol.name)
  const results = vectorResults(protocol, cases)
  describe.runIf(results.length > 0)(`vectors of ${protocol.name}`, () => {
    it.each(results)('$vector.id', ({ vector, wrong, exception }) => {
      const lines = wrong.map((each) => `${vector.id} ${differenceText(each)}`)
      // The message holds all of it: a comparison of lists is cut short in JSON reports.
      if (exception === undefined && wrong.length > 0) expect.fail(lines.join('\n'))
      if (exception !== undefined) expect(lines, 'of an exception').not.toEqual([])
    })
  })
  describe(`exceptions and corrections of ${protocol.name}`, () => departures(protocol, results, cases))
  if (protocol.tcp) framing(protocol, protocol.tcp.frame, cases)
}

function departures(
  protocol: Protocol,
  results: readonly VectorResult[],
  { corrections = [], exceptions = {} }: ProtocolCases,
): void {
  it('are of frames that exist; the exceptions at most one, or 3 % of all', () => {
    const ids = new Set(results.map(({ vector }) => vector.id))
    const named = [...Object.keys(exceptions), ...corrections.flatMap(({ frames = [] }) => frames)]
    expect(named.filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(exceptions).length).toBeLessThanOrEqual(Math.max(1, Math.floor(results.length * 0.03)))
  })

  it.each(corrections)('are needed: $reason', ({ frames, ...correction }) => {
    const others = corrections.filter(({ reason }) => reason !== correction.reason)
    const differing = results
      .filter(
        ({ vector, output }) => differences(withEscapedReplies(protocol, corrected(vector, others)), output).length > 0,
      )
      .map(({ vector }) => vector.id)
    expect(differing).not.toEqual([])
    if (frames) expect(frames.filter((id) => !differing.includes(id))).toEqual([])
  })
}

function framing(
  { escaping, name }: Protocol,
  framer: Framer,
  { unescaped, streams: others = {} }: ProtocolCases,
): void {
  const streams = streamsOf(name).filter(({ input }) => !Object.hasOwn(others, input.slice(0, 40)))
  describe.runIf(streams.length > 0)(`streams of ${name}`, () => {
    for (const { input, frames } of streams) {
      it(input.slice(0, 80), () => {
        const cut = framesOfParts(framer, Buffer.from(input, 'hex'), 0).slice(0, frames.length)
        const asWritten = cut.map((frame) =>
          unescaped ? unescaped(Buffer.from(frame, 'hex')).toString('hex') : withoutEscapes(frame, escaping),
        )
        expect(asWritten.map((frame, i) => withoutEnd(frame, frames[i]))).toEqual(
          frames.map((frame) => withoutEnd(frame)),
        )
      })
    }
  })
}

/** Our frames hold their escapes, those of the vectors do not. */
function withoutEscapes(hex: string, escaping: Protocol['escaping']): string {
  const frame = Buffer.from(hex, 'hex')
  if (escaping === 'none') return hex
  const { escape, codes, optional = [] } = escaping
  return unescape(frame, escape, new Map([...codes, ...optional])).toString('hex')
}

/** Our frames hold what begins them, one byte or a length of four, and ends them, at most two; those of the vectors do not. */
function withoutEnd(hex: string, expected = ''): string {
  const [own] = [hex, hex.slice(2), hex.slice(8)].filter(
    (text) => text.startsWith(expected) && text.length - expected.length <= 4,
  )
  if (expected !== '' && own !== undefined) return withoutEnd(expected)
  return trimEnd(Buffer.from(hex, 'hex')).toString('hex')
}
