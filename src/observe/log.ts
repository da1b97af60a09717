import { type Logger, pino } from 'pino'

export type { Logger }

/** How a process logs: JSON lines, or readable ones for people. `auto`: readable on a terminal. */
export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly format: 'auto' | 'json' | 'pretty'
}

/**
 * The process' logger: `level` as a word, `time` in RFC 3339, the role in every line. Keys with a meaning across the
 * product: `device`, `protocol`, `courier_id`, `route_id`, `reason`. Never pass it a URL that `printableUrl` has not seen.
 */
export function createLogger(role: string, { level, format }: LogOptions): Logger {
  const pretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY)
  return pino(
    {
      level,
      base: { role },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: describeError },
      formatters: { level: (label) => ({ level: label }) },
    },
    pretty ? prettyStream() : pino.destination({ dest: 2, sync: false, minLength: 0 }),
  )
}

/** No other property of an error: a command that failed carries its arguments, a password among them. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, message, stack }
}

function prettyStream() {
  return pino.transport({
    target: 'pino-pretty',
    options: { destination: 2, ignore: 'pid,hostname,role', messageFormat: '{role}: {msg}', translateTime: 'HH:MM:ss' },
  })
}
