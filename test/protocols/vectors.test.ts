import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { protocols } from '../../protocols/index.ts'
import { type DecodeReason, decodeFrame, type Framer, type Protocol, trimEnd } from '../../protocols/kit/index.ts'
import { decodeInput } from '../../src/cli/decode.ts'
import { decodesRough, flipped, framesOfParts, framesRough, newSession, reasonOf, within } from '../support/rough.ts'
import {
  ARRIVED,
  corrections,
  differences,
  exceptions,
  isDevice,
  streamsOf,
  type Vector,
  vectorsFolder,
  vectorsOf,
} from '../support/vectors.ts'

/** Of any one frame's cases, ms. */
const DEADLINE = 5000

if (!existsSync(vectorsFolder)) {
  console.warn(`No vectors at ${vectorsFolder}: the frames of real devices are not tested.`)
  it.skip(`vectors (none at ${vectorsFolder})`, () => undefined)
}

for (const protocol of protocols) {
  const vectors = vectorsOf(protocol.name)
  describe.runIf(vectors.length > 0)(`vectors of ${protocol.name}`, () => {
    meaning(vectors)
    describe('on rough roads', () => roughRoads(protocol, vectors))
    integrity(protocol, vectors)
  })
  const framer = protocol.tcp?.frame
  if (framer) framing(protocol.name, framer)
}

it('lists exceptions and corrections of existing frames only', () => {
  const ids = new Set(protocols.flatMap(({ name }) => vectorsOf(name)).map(({ id }) => id))
  const listed = [...Object.keys(exceptions), ...Object.keys(corrections)]
  expect(ids.size === 0 ? [] : listed.filter((id) => !ids.has(id))).toEqual([])
})

function meaning(vectors: readonly Vector[]): void {
  const options = { sessions: new Map(), lenient: true, now: () => ARRIVED }
  const bare = { sessions: new Map(), lenient: true, now: () => ARRIVED }
  const outputs = vectors.map((vector) => decodeInput(vector, options))
  const devices = vectors.map((vector) => decodeInput({ ...vector, deviceId: undefined }, bare).device)
  const excepted = vectors.filter(({ id }) => id in exceptions)

  for (const [i, vector] of vectors.entries()) {
    if (vector.id in exceptions) {
      it(`${vector.id} differs: ${exceptions[vector.id]}`, () => {
        expect(differences(vector, outputs[i])).not.toEqual([])
      })
    } else {
      it(vector.id, () => {
        const wrong = differences(vector, outputs[i])
        // The message holds all of it: a comparison of lists is cut short in JSON reports.
        if (wrong.length > 0) expect.fail(wrong.join('\n'))
        expect(devices[i] === undefined || isDevice(vector, devices[i]), devices[i]).toBe(true)
      })
    }
  }

  it('has exceptions for at most one frame or 3 % of them', () => {
    expect(excepted.length).toBeLessThanOrEqual(Math.max(1, Math.floor(vectors.length * 0.03)))
  })
}

/** What a vector's device sent; of a request its body. */
function bytesOf({ input }: Vector): Buffer {
  if ('hex' in input) return Buffer.from(input.hex, 'hex')
  if ('text' in input) return Buffer.from(input.text + (input.delimiter ?? ''))
  return Buffer.from(input.bodyHex ?? '', 'hex')
}

function roughRoads(protocol: Protocol, vectors: readonly Vector[]): void {
  const framer = protocol.tcp?.frame
  for (const vector of vectors) {
    it(`${vector.id}, cut short and with bits flipped, is a message or an error`, () => {
      within(DEADLINE, () => decodesRough(protocol, bytesOf(vector)))
    })
    if (!framer) continue
    it(`${vector.id}, twice on a stream cut at every byte, is the same frames`, () => {
      const frame = bytesOf(vector)
      within(DEADLINE, () => splitsAnywhere(framer, Buffer.concat([frame, frame])))
    })
  }
}

function splitsAnywhere(framer: Framer, stream: Buffer): void {
  framesRough(framer, stream)
  const whole = framesOfParts(framer, stream, 0).flatMap(singlePings)
  for (let cut = 1; cut < stream.length; cut++) {
    expect(framesOfParts(framer, stream, cut).flatMap(singlePings), `cut at ${cut}`).toEqual(whole)
  }
}

/** A run of Teltonika's pings is one frame, and two where the stream is cut within it. */
function singlePings(frame: string): string[] {
  return /^(ff)+$/.test(frame) ? Array<string>(frame.length / 2).fill('ff') : [frame]
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

/** Where a checksum covers the content of a frame: from the first index to before the last, counted as `slice` does. */
const COVERED: Readonly<Record<string, readonly [number, number]>> = {
  gt06: [3, -4],
  teltonika: [8, -4],
}

function integrity(protocol: Protocol, vectors: readonly Vector[]): void {
  const covered = COVERED[protocol.name]
  if (!covered) return
  const good = vectors.map((vector) => bytesOf(vector)).filter((frame) => checksumOf(protocol, frame))
  it('has frames whose checksum is right', () => expect(good.length).toBeGreaterThan(0))
  it('refuses each of them with a damaged byte', () => {
    for (const frame of good) {
      const [from, to] = covered
      for (let at = from; at < frame.length + to; at++) {
        expect(refusal(protocol, flipped(frame, at * 8 + (at % 8))), frame.toString('hex')).toBe('checksum')
      }
    }
  })
}

/** Whether a frame is one with a checksum (a damaged end is refused) that is right. */
function checksumOf(protocol: Protocol, frame: Buffer): boolean {
  if (refusal(protocol, frame) !== undefined) return false
  const damaged = flipped(frame, (frame.length + COVERED[protocol.name][1] - 1) * 8)
  return refusal(protocol, damaged) === 'checksum'
}

function refusal(protocol: Protocol, frame: Buffer): DecodeReason | undefined {
  return reasonOf(() => decodeFrame(protocol, frame, newSession()))
}
