import {
  cut,
  decodeFrame,
  type HttpRequest,
  noSettings,
  type Protocol,
  type Session,
} from '../../../../protocols/kit/index.ts'
import { Conversation } from '../../conversation.ts'
import type { PortRules } from '../protocol-choice.ts'

/**
 * Returns the device that the first bytes of a conversation, or a request, name; undefined: none, or not yet. Stores and
 * notes nothing.
 */
export function deviceNamedIn(
  bytes: Buffer | HttpRequest,
  transport: 'tcp' | 'udp' | 'http',
  { protocol, detector }: Pick<PortRules, 'protocol' | 'detector'>,
): string | undefined {
  const now = Date.now()
  if (!protocol) {
    const found = detector?.look({ bytes, transport, now }).found ?? []
    return detector?.ranked(found, new Conversation(transport, '0.0.0.0:0'))[0]?.device
  }
  const session: Session = { settingsOf: noSettings, transport, now, lenient: false }
  for (const frame of framesIn(bytes, protocol, session)) {
    const device = deviceIn(frame, protocol, session)
    if (device !== undefined) return device
  }
  return undefined
}

function framesIn(
  bytes: Buffer | HttpRequest,
  { tcp, udp }: Protocol,
  session: Session,
): readonly (Buffer | HttpRequest)[] {
  if (!Buffer.isBuffer(bytes)) return [bytes]
  const frame = session.transport === 'tcp' ? tcp?.frame : udp?.frame
  return frame ? cut(bytes, frame, session, MOST_FRAMES).frames : [bytes]
}

/** The fault of a decoder that throws is logged when the frame is taken, not here. */
function deviceIn(frame: Buffer | HttpRequest, protocol: Protocol, session: Session): string | undefined {
  try {
    const { device, fixes = [] } = decodeFrame(protocol, frame, session)
    return device ?? fixes.find((fix) => fix.device !== undefined)?.device
  } catch {
    return undefined
  }
}

const MOST_FRAMES = 10
