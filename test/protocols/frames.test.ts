import { expect, it } from 'vitest'
import { loadProtocols, protocolPorts } from '../../protocols/index.ts'
import { isEndless, type Protocol } from '../../protocols/kit/index.ts'
import { conversationDifferences, frameOf, heard, sessionOf } from '../support/own-frames.ts'
import { type Conversation, casesOf } from '../support/protocol-cases.ts'

/** Compares all that each protocol's own frames say, and checks that each protocol has what the tests need. */
for (const protocol of await loadProtocols()) {
  const { name, devices, tcp, udp, http, integrity = { none: '' }, escaping } = protocol

  const { costly, frames, withoutPositions } = await casesOf(name)

  it.each(frames)(`${name} decodes and cuts its own frames: $title`, (conversation) => {
    const wrong = conversationDifferences(protocol, conversation)
    if (wrong.length > 0) expect.fail(wrong.join('\n'))
    expect(framesOnStream(protocol, conversation)).toEqual(sentOnStream(conversation))
  })

  it(`${name} has an own frame with a position, and costly frames`, () => {
    const fixes = frames.flatMap((each) => each.frames.filter((frame) => frame.fixes !== undefined))
    expect([fixes.length > 0, Object.keys(costly).length > 0]).toEqual([withoutPositions === undefined, true])
  })

  it(`${name} says what its devices are, what its checksum covers, and how it escapes`, () => {
    expect(JSON.stringify([devices, integrity, costly])).not.toContain('FILL IN')
    expect(Object.keys(integrity)).toSatisfy((keys) => keys.includes('none') || keys.includes('covers'))
    expect(!escaping || escaping.codes.size + (escaping.optional?.size ?? 0) > 0).toBe(true)
  })

  it(`${name} has the ports that protocols/index.ts names`, () => {
    const ports = { name, tcp: tcp?.port, udp: udp?.port, http: http?.port }
    expect(protocolPorts.find((each) => each.name === name)).toEqual(ports)
  })
}

it('protocols/index.ts is in alphabetical order', () => {
  const names = protocolPorts.map(({ name }) => name)
  expect(names).toEqual(names.toSorted())
})

/** Returns the whole frames of a conversation in hexadecimal digits. */
function sentOnStream({ frames }: Conversation): string[] {
  return frames.filter(({ error }) => error !== 'truncated').flatMap((own) => hexOf(frameOf(own)))
}

/** Returns the frames cut from a conversation in one stream or datagram, or frame by frame if frames have no end. */
function framesOnStream(protocol: Protocol, conversation: Conversation): string[] {
  const session = sessionOf(protocol, conversation)
  const own = conversation.frames.filter(({ error }) => error !== 'truncated')
  const framer = session.transport === 'tcp' ? protocol.tcp?.frame : session.transport === 'udp' && protocol.udp?.frame
  if (!framer) return own.flatMap((each) => hexOf(frameOf(each)))
  const isWhole = !isEndless(framer)
  const parts = own.map((each) => frameOf(each) as Buffer)
  return (isWhole ? [Buffer.concat(parts)] : parts).flatMap((stream) => {
    const found: string[] = []
    for (let at = 0, length = 1; at < stream.length && length > 0; at += length) {
      length = framer(stream.subarray(at), session)
      const frame = stream.subarray(at, at + length)
      found.push(length > 0 ? frame.toString('hex') : `${length} for ${stream.toString('hex', at)}`)
      // Some lengths depend on earlier frames.
      heard(protocol, frame, session)
    }
    return found
  })
}

function hexOf(frame: ReturnType<typeof frameOf>): string[] {
  return Buffer.isBuffer(frame) ? [frame.toString('hex')] : []
}
