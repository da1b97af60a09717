import type { Packet } from '../speak/index.ts'
import { LineFault } from './line.ts'

/** One packet at a time, and its answer. */
export interface Exchange {
  /** Resolves once an answer accepts the packet. @throws LineFault where it is refused, fails, or `answerMs` are over. */
  readonly send: (packet: Packet, write: (bytes: Buffer) => void) => Promise<void>
  /** What the other side said. */
  readonly hear: (answer: Buffer) => void
  /** The packet under way, if there is one, comes to nothing. */
  readonly fail: (reason: string) => void
}

/** Nothing is under way. */
export function createExchange(answerMs: number): Exchange {
  let underWay: { readonly packet: Packet; readonly end: (reason?: string) => void } | undefined

  function send(packet: Packet, write: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => end('no answer'), answerMs)
      function end(reason?: string): void {
        clearTimeout(deadline)
        underWay = undefined
        if (reason === undefined) resolve()
        else reject(new LineFault(reason))
      }

      underWay = { packet, end }
      write(packet.bytes)
    })
  }

  function hear(answer: Buffer): void {
    const verdict = underWay?.packet.accepted(answer)
    if (verdict !== undefined) underWay?.end(verdict ? undefined : 'refused')
  }

  return { send, hear, fail: (reason) => underWay?.end(reason) }
}
