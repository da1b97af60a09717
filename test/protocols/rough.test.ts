import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { isEndless, type Protocol } from '../../protocols/kit/index.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { decodesRough, framesOfParts, framesRough, placesIn, within } from '../support/rough.ts'

/** ms for all cases of one protocol. */
const DEADLINE = 60_000

for (const protocol of await loadProtocols()) {
  const known = knownFrames(protocol, await casesOf(protocol.name))
  it(`${protocol.name} decodes or refuses each known frame that is cut short or has flipped bits`, () =>
    within(DEADLINE, () => known.forEach((each) => decodesRough(protocol, each.frame, 20))))
}

for (const protocol of await loadProtocols()) {
  if (!protocol.tcp) continue
  const known = knownFrames(protocol, await casesOf(protocol.name))
  it(`${protocol.name} cuts each known frame out of a stream in two parts as out of one part`, () =>
    within(DEADLINE, () => known.forEach((each) => splitsAnywhere(protocol, each))))
}

function splitsAnywhere({ tcp }: Protocol, { frame, name, session }: KnownFrame): void {
  // Frames without an end depend on how the stream arrives.
  if (!tcp || !Buffer.isBuffer(frame) || isEndless(tcp.frame)) return
  const stream = Buffer.concat([frame, frame])
  framesRough(tcp.frame, stream, session())
  const whole = framesOfParts(tcp.frame, stream, 0, session()).flatMap(singlePings).join()
  for (const at of placesIn(stream.length)) {
    const split = framesOfParts(tcp.frame, stream, at, session()).flatMap(singlePings).join()
    if (split !== whole) expect(split, `${name}, cut at ${at}`).toBe(whole)
  }
}

/** A run of Teltonika pings is one frame, but two if the stream is cut within it. */
function singlePings(frame: string): string[] {
  return /^(ff)+$/.test(frame) ? Array<string>(frame.length / 2).fill('ff') : [frame]
}
