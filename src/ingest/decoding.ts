import { DecodeError, decodeFrame, type HttpRequest, type Message, type Protocol } from '../../protocols/kit/index.ts'
import type { Logger } from '../observe/log.ts'
import type { DeviceSession } from './device.ts'

/** A frame, and how it is read. */
export interface Reading {
  readonly frame: Buffer | HttpRequest
  readonly session: DeviceSession
  readonly protocol: Protocol
}

/** A decoder may only throw DecodeError. Any other error is a fault of ours: it is logged, and harms no other frame. */
export function decode({ frame, session, protocol }: Reading, logger: Logger): Message | DecodeError {
  try {
    return decodeFrame(protocol, frame, session)
  } catch (error) {
    if (error instanceof DecodeError) return error
    const { stack } = error as Error
    logger.error({ stack, protocol: protocol.name }, 'fault in a decoder')
    return new DecodeError('malformed')
  }
}
