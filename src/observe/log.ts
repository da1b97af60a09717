import { type Logger, pino } from 'pino'

export type { Logger }

/** How a process logs. `auto`: readable lines on a terminal, else JSON lines. */
export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly format: 'auto' | 'json' | 'pretty'
}

/**
 * Returns the logger of a process: `level` as a word, `time` in RFC 3339, the role in every line. These keys have one meaning
 * in the whole product: `device`, `protocol`, `courier_id`, `route_id`, `reason`. Log a URL only through `printableUrl`.
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

/** Only these properties of an error are logged: others of a failed command contain its arguments, perhaps a password. */
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
