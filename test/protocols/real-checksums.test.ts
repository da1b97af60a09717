import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { decodeFrame, type HttpRequest, type Protocol, type Session } from '../../protocols/kit/index.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { framesOfParts, newSession, reasonOf } from '../support/rough.ts'
import { streamsOf, vectorsOf } from '../support/vectors/vectors.ts'
import { asGiven, onWire, vectorSession } from '../support/vectors/wire.ts'

// Some real frames were edited to hide an id or a place, so not all have the right checksum.

for (const protocol of await loadProtocols()) {
  const { integrity = {}, name } = protocol
  const frames = realFrames(protocol)
  const { wrongChecksums } = await casesOf(name)

  it.runIf(frames.length > 0)(
    `${name}: a third of the real frames with a checksum pass it, or its cases say why not`,
    () => {
      const results = frames.map((frame) => resultOf(protocol, frame))
      const right = results.filter((result) => result === 'right').length
      const wrong = results.filter((result) => result === 'wrong').length
      const isClaimed = 'checksum' in integrity || right + wrong > 0
      const areEnough = !isClaimed || (right > 0 && right * 3 >= right + wrong)
      expect(areEnough, `${right} of ${right + wrong} pass; wrongChecksums: ${wrongChecksums}`).toBe(
        wrongChecksums === undefined,
      )
    },
  )
}

/** A frame of a real device, in each form that it may have had on the wire. */
interface RealFrame {
  readonly readings: readonly (Buffer | HttpRequest)[]
  readonly session: () => Session
}

/** The different frames of the vectors and of their streams. */
function realFrames(protocol: Protocol): RealFrame[] {
  const vectors = vectorsOf(protocol.name).map((vector) => ({
    readings: [onWire(protocol, vector), asGiven(protocol, vector)],
    session: () => vectorSession(protocol, vector),
  }))
  const framer = protocol.tcp?.frame
  const streams = framer ? streamsOf(protocol.name) : []
  const cut = streams.flatMap(({ input }) =>
    framesOfParts(framer ?? (() => 0), Buffer.from(input, 'hex'), 0).slice(0, -1),
  )
  const others = cut.map((hex) => ({ readings: [Buffer.from(hex, 'hex')], session: () => newSession() }))
  const different = new Map([...others, ...vectors].map((frame) => [JSON.stringify(frame.readings[0]), frame]))
  return [...different.values()]
}

/** Returns whether the checksum of a frame is right; undefined if it has none. */
function resultOf(protocol: Protocol, { readings, session }: RealFrame): 'right' | 'wrong' | undefined {
  const results = readings.map((frame) => {
    const strict = Object.assign(session(), { lenient: false })
    if (reasonOf(() => decodeFrame(protocol, frame, strict)) === 'checksum') return 'wrong'
    return strict.hasVerified ? 'right' : undefined
  })
  return results.includes('right') ? 'right' : results[0]
}
