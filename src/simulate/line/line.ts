import type { Fix } from '../../../protocols/kit/index.ts'

/** A van's wire to the gateway. It connects when there is something to send, and anew after whatever went wrong. */
export interface Line {
  /** Most fixes that `deliver` takes. */
  readonly maxFixes: number
  /** Sends fixes as one packet, oldest first. @throws LineFault where they were not acknowledged. */
  deliver(fixes: readonly Fix[]): Promise<void>
  /** Ends the connection; a packet on its way fails. */
  close(): void
}

/** Where a line goes to, and who speaks on it. */
export interface LineEnd {
  readonly host: string
  readonly port: number
  readonly id: string
  /** How long an answer may take, ms. */
  readonly answerMs: number
}

/** A packet was not acknowledged: the message says why, for people. */
export class LineFault extends Error {
  override name = 'LineFault'
}

/** `127.0.0.1:5027`, `[::1]:5027`. */
export function addressOf({ host, port }: LineEnd): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Why a connection failed, in a few words. */
export function reasonOf(error: unknown, end: LineEnd): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `${REASONS.get(code ?? '') ?? message} (${addressOf(end)})`
}

const REASONS = new Map([
  ['ECONNREFUSED', 'nobody listens'],
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection closed'],
  ['UND_ERR_SOCKET', 'connection closed'],
  ['ETIMEDOUT', 'no answer'],
  ['ENOTFOUND', 'unknown host'],
  ['EHOSTUNREACH', 'host cannot be reached'],
  ['ENETUNREACH', 'network cannot be reached'],
])
