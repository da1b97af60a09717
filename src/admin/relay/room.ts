import type { FastifyReply } from 'fastify'
import type { Outcome } from './attempts.ts'

/** What answers that are relayed hold of this process' memory, all together. */
export interface Room {
  /**
   * Asks for an answer, and holds what it takes until its reader has it or is gone; `full` where there is no room for what
   * such a request, with a body of so many bytes, is usually answered.
   */
  hold(reply: FastifyReply, bodyBytes: number, ask: (take: Take) => Promise<Outcome>): Promise<Outcome>
}

/** Takes so many bytes more, where they are free. */
export type Take = (bytes: number) => boolean

/** @param maxBytes of all answers together */
export function createRoom(maxBytes: number): Room {
  let held = 0
  return {
    async hold({ raw }, bodyBytes, ask) {
      const usual = USUAL_BYTES + 2 * bodyBytes
      let own = 0
      let taken = 0
      const grow = (bytes: number) => {
        if (held + bytes - own > maxBytes) return false
        held += bytes - own
        own = bytes
        return true
      }
      const take = (bytes: number) => grow(Math.max((taken += bytes), usual))
      const leave = () => void (held -= own)
      try {
        return grow(usual) ? await ask(take) : { fault: 'full', unsent: true }
      } finally {
        if (raw.closed) leave()
        else raw.once('close', leave)
      }
    },
  }
}

// Items that are added come back, with a little more: who adds them must not lose the answer.
const USUAL_BYTES = 64 * 1024
