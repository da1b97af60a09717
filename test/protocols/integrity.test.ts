import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { type Covered, type DecodeReason, decodeFrame, type Protocol } from '../../protocols/kit/index.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { flipped, placesIn, reasonOf } from '../support/rough.ts'

for (const protocol of await loadProtocols()) {
  const { integrity, name } = protocol
  if (!integrity || 'none' in integrity) continue
  const covers = integrity.covers
  const known = knownFrames(protocol, await casesOf(name)).filter((each) => hasChecksum(protocol, each, covers))

  it(`${name} refuses a frame with a checksum if any covered byte is damaged`, () => {
    expect(known.length, 'frames with a checksum that fits').toBeGreaterThan(0)
    for (const each of known) refusesDamaged(protocol, each, covers)
  })
}

/** Returns true if a frame has a right checksum: it is read, and refused with a damaged end. */
function hasChecksum(protocol: Protocol, known: KnownFrame, covers: Covered): boolean {
  const { frame } = known
  if (!Buffer.isBuffer(frame) || refusal(protocol, known) !== undefined) return false
  const [from, to] = coveredOf(frame, covers)
  return from < to && refusal(protocol, known, flipped(frame, (to - 1) * 8)) === 'checksum'
}

function refusesDamaged(protocol: Protocol, known: KnownFrame, covers: Covered): void {
  const frame = known.frame as Buffer
  const [from, to] = coveredOf(frame, covers)
  const accepted = placesIn(to - from).filter((place) => {
    const damaged = flipped(frame, (from + place) * 8 + (place % 8))
    return refusal(protocol, known, damaged) === undefined
  })
  expect(accepted, `${known.name}: places, from the first covered byte on`).toEqual([])
}

/** Returns the covered range, both ends counted from the start of the frame. */
function coveredOf(frame: Buffer, covers: Covered): readonly [from: number, to: number] {
  const [from, to] = typeof covers === 'function' ? covers(frame) : covers
  return [from, to > 0 ? to : frame.length + to]
}

function refusal(protocol: Protocol, { frame, session }: KnownFrame, damaged = frame): DecodeReason | undefined {
  return reasonOf(() => decodeFrame(protocol, damaged, Object.assign(session(), { lenient: false })))
}

for (const { escaping, name } of await loadProtocols()) {
  if (!escaping) continue
  const { frames } = await casesOf(name)
  it(`${name} has own frames with each of its escape sequences`, () => {
    const own = frames.flatMap((each) => each.frames.flatMap(({ frame }) => (Buffer.isBuffer(frame) ? [frame] : [])))
    const pairs = [...escaping.codes.keys()].map((code) => Buffer.of(escaping.escape, code))
    expect(pairs.filter((pair) => !own.some((frame) => frame.includes(pair)))).toEqual([])
  })
}
