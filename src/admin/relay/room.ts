import type { FastifyReply } from 'fastify'
import type { Outcome } from './attempts.ts'

/** What answers that are relayed hold of this process' memory, all together. */
export interface Room {
  /** Asks for an answer, and holds what it takes until its reader has it or is gone. */
  hold(reply: FastifyReply, ask: (take: Take) => Promise<Outcome>): Promise<Outcome>
}

/** Takes so many bytes more, where they are free. */
export type Take = (bytes: number) => boolean

/** @param maxBytes of all answers together; where not even a request's own are left, the outcome is `full` */
export function createRoom(maxBytes: number): Room {
  let taken = 0
  return {
    async hold({ raw }, ask) {
      let own = 0
      const take = (bytes: number) => {
        if (taken + bytes > maxBytes) return false
        taken += bytes
        own += bytes
        return true
      }
      const leave = () => void (taken -= own)
      try {
        return take(REQUEST_BYTES) ? await ask(take) : { fault: 'full' }
      } finally {
        if (raw.closed) leave()
        else raw.once('close', leave)
      }
    },
  }
}

/** About what there is of a request besides its answer. */
const REQUEST_BYTES = 64 * 1024
