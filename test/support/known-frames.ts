import type { HttpRequest, Protocol, Session } from '../../protocols/kit/index.ts'
import { frameOf, heard, sessionOf } from './own-frames.ts'
import type { Conversation, ProtocolCases } from './protocol-cases.ts'
import { vectorsOf } from './vectors/vectors.ts'
import { onWire, vectorSession } from './vectors/wire.ts'

/** A frame as it is on the wire, from a protocol's own cases or from its vectors. */
export interface KnownFrame {
  /** For people: the title of the conversation and the place in it, or the id of the vector. */
  readonly name: string
  readonly frame: Buffer | HttpRequest
  /** A new session that has heard what came before the frame. */
  readonly session: () => Session
}

/** Every known frame of a protocol: its own, then those of the vectors where they are. */
export function knownFrames(protocol: Protocol, cases: ProtocolCases): KnownFrame[] {
  return [...cases.frames.flatMap((each) => ownFrames(protocol, each)), ...vectorFrames(protocol)]
}

/** The frames of one conversation of a protocol's own. */
export function ownFrames(protocol: Protocol, conversation: Conversation): KnownFrame[] {
  const frames = conversation.frames.map(frameOf)
  return frames.map((frame, index) => ({
    name: `${conversation.title}, frame ${index}`,
    frame,
    session: () => {
      const session = sessionOf(protocol, conversation)
      for (const earlier of frames.slice(0, index)) heard(protocol, earlier, session)
      return session
    },
  }))
}

function vectorFrames(protocol: Protocol): KnownFrame[] {
  return vectorsOf(protocol.name).map((vector) => ({
    name: vector.id,
    frame: onWire(protocol, vector),
    session: () => vectorSession(protocol, vector),
  }))
}
