import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { type Framer, type Protocol, trimEnd } from '../../protocols/kit/index.ts'
import { corrected } from '../support/vectors/corrections.ts'
import { casesOf, type ProtocolCases } from '../support/protocol-cases.ts'
import { framesOfParts } from '../support/rough.ts'
import { differences, differenceText, isDevice } from '../support/vectors/differences.ts'
import { streamsOf, type Vector, vectorFamilies, vectorsFolder, vectorsOf } from '../support/vectors/vectors.ts'
import { decodeVector, vectorOptions } from '../support/vectors/wire.ts'

if (!vectorFamilies()) {
  console.warn(`No vectors at ${vectorsFolder}: the frames of real devices are not tested.`)
  it.skip(`vectors (none at ${vectorsFolder})`, () => undefined)
}

for (const protocol of vectorFamilies() ? await loadProtocols() : []) {
  const vectors = vectorsOf(protocol.name)
  const cases = await casesOf(protocol.name)
  describe.runIf(vectors.length > 0)(`vectors of ${protocol.name}`, () => meaning(protocol, vectors, cases))
  describe(`exceptions and corrections of ${protocol.name}`, () => departures(protocol, vectors, cases))
  if (protocol.tcp) framing(protocol.name, protocol.tcp.frame)
}

function meaning(
  protocol: Protocol,
  vectors: readonly Vector[],
  { corrections, exceptions = {} }: ProtocolCases,
): void {
  const options = vectorOptions()
  const bare = vectorOptions()
  const outputs = vectors.map((vector) => decodeVector(protocol, vector, options))
  const devices = vectors.map((vector) => decodeVector(protocol, { ...vector, deviceId: undefined }, bare).device)

  for (const [i, vector] of vectors.entries()) {
    const read = corrected(vector, corrections)
    if (vector.id in exceptions) {
      it(`${vector.id} differs: ${exceptions[vector.id]}`, () => {
        expect(differences(read, outputs[i])).not.toEqual([])
      })
    } else {
      it(vector.id, () => {
        const wrong = differences(read, outputs[i]).map((each) => `${vector.id} ${differenceText(each)}`)
        // The message holds all of it: a comparison of lists is cut short in JSON reports.
        if (wrong.length > 0) expect.fail(wrong.join('\n'))
        expect(devices[i] === undefined || isDevice(read, devices[i]), devices[i]).toBe(true)
      })
    }
  }
}

function departures(
  protocol: Protocol,
  vectors: readonly Vector[],
  { corrections = [], exceptions = {} }: ProtocolCases,
): void {
  it('are of frames that exist; the exceptions at most one, or 3 % of all', () => {
    const ids = new Set(vectors.map(({ id }) => id))
    const named = [...Object.keys(exceptions), ...corrections.flatMap(({ frames = [] }) => frames)]
    expect(named.filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(exceptions).length).toBeLessThanOrEqual(Math.max(1, Math.floor(vectors.length * 0.03)))
  })

  it.each(corrections)('each correction is needed: $reason', (correction) => {
    const others = corrections.filter((each) => each !== correction)
    const options = vectorOptions()
    const outputs = new Map(vectors.map((vector) => [vector.id, decodeVector(protocol, vector, options)]))
    const wrongWithout = ({ id }: Vector) => {
      const vector = vectors.find((each) => each.id === id) as Vector
      return differences(corrected(vector, others), outputs.get(id) as NonNullable<ReturnType<typeof outputs.get>>)
    }
    const named = vectors.filter(({ id }) => correction.frames?.includes(id))
    const needless = named.filter((vector) => wrongWithout(vector).length === 0)
    expect(needless.map(({ id }) => id)).toEqual([])
    expect(vectors.filter((vector) => wrongWithout(vector).length > 0).length).toBeGreaterThan(0)
  })
}

function framing(name: string, framer: Framer): void {
  const streams = streamsOf(name)
  describe.runIf(streams.length > 0)(`streams of ${name}`, () => {
    for (const { input, frames } of streams) {
      it(input.slice(0, 80), () => {
        const cut = framesOfParts(framer, Buffer.from(input, 'hex'), 0).slice(0, frames.length)
        expect(cut.map(withoutEnd)).toEqual(frames.map(withoutEnd))
      })
    }
  })
}

/** Our frames hold their delimiter, those of the vectors do not. */
function withoutEnd(hex: string): string {
  return trimEnd(Buffer.from(hex, 'hex')).toString('hex')
}
