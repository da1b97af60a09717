import type { Fix } from '../../../protocols/kit/index.ts'
import { hostPort } from '../../domain/addresses.ts'
import type { Packet } from '../speak/index.ts'

/** A van's wire to the gateway. It connects when there is something to send, and again after a fault. */
export interface VanLine {
  /** Most fixes that `deliver` takes. */
  readonly maxFixes: number
  /** Sends fixes as one packet, oldest first. @throws LineFault if they were not acknowledged. */
  deliver(fixes: readonly Fix[]): Promise<void>
  /** Ends the connection; a packet on its way fails. */
  close(): void
}

/** The gateway's address and the device of a line. */
export interface LineEnd {
  readonly host: string
  readonly port: number
  readonly id: string
  /** How long an answer may take, ms. */
  readonly answerMs: number
}

/** A packet was not acknowledged; the message tells why. */
export class LineFault extends Error {
  override name = 'LineFault'
}

/** Why a connection failed, in a few words. */
export function faultReason(error: unknown, end: LineEnd): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `${REASONS.get(code ?? '') ?? message} (${hostPort(end)})`
}

const REASONS = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection closed'],
  ['UND_ERR_SOCKET', 'connection closed'],
  ['ETIMEDOUT', 'no answer'],
  ['ENOTFOUND', 'unknown host'],
  ['EHOSTUNREACH', 'host cannot be reached'],
  ['ENETUNREACH', 'network cannot be reached'],
])

/** Sends one packet at a time and waits for its answer. */
export interface PacketExchange {
  /**
   * Resolves once an answer accepts the packet; if the protocol has no answer, once it is written. @throws LineFault if
   * the packet is refused, fails, or takes longer than `answerMs`
   */
  readonly send: (packet: Packet, write: (bytes: Buffer) => void) => Promise<void>
  /** Called when the bytes of a packet are written, which counts as acceptance for a packet without an answer. */
  readonly written: (bytes: Buffer) => void
  /** Takes an answer of the gateway. */
  readonly receive: (answer: Buffer) => void
  /** Fails the packet that waits for an answer, if there is one. */
  readonly fail: (reason: string) => void
}

/** An exchange without a packet. */
export function createExchange(answerMs: number): PacketExchange {
  let current: { readonly packet: Packet; readonly end: (reason?: string) => void } | undefined

  function send(packet: Packet, write: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => end('no answer'), answerMs)
      function end(reason?: string): void {
        clearTimeout(deadline)
        current = undefined
        if (reason === undefined) resolve()
        else reject(new LineFault(reason))
      }

      current = { packet, end }
      write(packet.bytes)
    })
  }

  function receive(answer: Buffer): void {
    const verdict = current?.packet.accepted?.(answer)
    if (verdict !== undefined) current?.end(verdict ? undefined : 'refused')
  }

  function written(bytes: Buffer): void {
    if (current?.packet.bytes === bytes && !current.packet.accepted) current.end()
  }

  return { send, written, receive, fail: (reason) => current?.end(reason) }
}
