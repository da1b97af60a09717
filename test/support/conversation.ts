import type { Session } from '../../protocols/kit/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'

/** The conversation of a gateway that goes on where the session of a decoder is. */
export function continued({ settingsOf: _, transport, ...known }: Session): Conversation {
  return Object.assign(new Conversation(transport, '127.0.0.1:1'), known, { lenient: false as const })
}
