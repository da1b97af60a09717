import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import type { Message, Protocol } from '../../protocols/kit/index.ts'
import { continued } from '../support/conversation.ts'
import { gateway } from '../support/ingest.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'

for (const protocol of await loadProtocols()) {
  const known = knownFrames(protocol, await casesOf(protocol.name))
  it(`${protocol.name} understands each known frame that it acknowledges, or the frame is kept`, async () => {
    const wrong = await Promise.all(known.map((each) => acknowledgedForNothing(protocol, each)))
    expect(wrong.filter((name) => name !== undefined)).toEqual([])
  })
}

/** Returns the name of a frame that is acknowledged although nothing was read from it and it is not kept. */
async function acknowledgedForNothing(protocol: Protocol, known: KnownFrame): Promise<string | undefined> {
  const { counted, frames, ingest, stored } = await gateway({ hold: { unknown: true }, maxUnknownDevices: 1_000_000 })
  const session = continued(known.session())
  let read: Message = {}
  const decoded: Protocol = {
    ...protocol,
    decode: protocol.decode && ((...frame) => (read = protocol.decode?.(...frame) as Message)),
    request: protocol.request && ((...request) => (read = protocol.request?.(...request) as Message)),
  }
  const outcome = await ingest.take(known.frame, session, decoded)
  const { fixes = [], none, unreadable } = read
  const isUnderstood = !unreadable && (none !== undefined || fixes.length > 0)
  if (outcome.status !== 'stored') return undefined
  if (fixes.length > 0 && stored.length + counted.length === 0) return `${known.name}: fixes are lost`
  return isUnderstood || frames.length === 1 ? undefined : known.name
}
