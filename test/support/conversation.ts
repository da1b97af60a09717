import type { Session } from '../../protocols/kit/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'

/** The conversation of a gateway that goes on where the session of a decoder is. */
export function continued(session: Session): Conversation {
  const { device, hasVerified, secret, states, unfinished } = session
  const known = { device, hasVerified, secret, states, unfinished }
  return Object.assign(new Conversation(session.transport, '127.0.0.1:1'), known)
}
