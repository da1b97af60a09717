import type { IncomingMessage } from 'node:http'
import type { Shared } from '../listener.ts'
import { append, createUnread, sizeOf } from '../unread.ts'
import type { Refusal } from './answer.ts'

/**
 * A request's body, or why it is refused; undefined where the client went away before its end. Also what is refused is
 * read to its end, as a client that writes may not read; what is far too long is not.
 */
export function readBody(
  request: IncomingMessage,
  { limits, pressure }: Pick<Shared, 'limits' | 'pressure'>,
): Promise<Buffer | Refusal | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | Refusal | undefined>()
  const unread = createUnread()
  const holder = { heldBytes: 0, end: refuse }
  let refusal: Refusal | undefined
  let length = 0

  function refuse(reason: Refusal): void {
    refusal ??= reason
    Object.assign(unread, createUnread())
    pressure.hold(holder, 0)
  }

  if (pressure.high) refuse('overload')
  request.on('data', (bytes: Buffer) => {
    length += bytes.length
    if (length > limits.max_frame_bytes) refuse('frame_too_long')
    if (!refusal) {
      append(unread, bytes)
      pressure.hold(holder, sizeOf(unread))
    }
    if (length <= limits.max_frame_bytes * 16) return
    request.pause()
    resolve('frame_too_long')
  })
  request.on('end', () => resolve(refusal ?? unread.bytes))
  request.on('close', () => {
    pressure.hold(holder, 0)
    resolve(undefined)
  })
  return promise
}
