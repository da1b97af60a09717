import type { Ports } from './messages.ts'
import { EXIT_CODES, onSignals, type StopSignal } from './signals.ts'
import { type Supervision, startEverything } from './supervisor.ts'

/**
 * Runs everything until a signal; answers with the exit code: 0 once all is closed in order, 130, 143 or 129 where a second
 * signal or the limit of 10 s cut that short. Rejects with a UserError that keeps it from starting, with nothing left behind.
 */
export async function supervise(supervision: Supervision): Promise<number> {
  const { first, second } = stopSignals()
  const everything = startEverything(supervision)
  try {
    const ports = await Promise.race([everything.ready, first])
    if (typeof ports !== 'string') announce(ports, supervision)
  } catch (error) {
    await everything.stop(second)
    throw error
  }
  const signal = await first
  supervision.logger.info({ reason: signal }, 'stopping')
  return (await everything.stop(second)) ? 0 : EXIT_CODES[signal]
}

function announce(ports: Ports, { logger }: Supervision): void {
  const open = Object.entries(ports).map(([name, port]) => `${name} ${port}`)
  logger.info(`ready: ${open.join(', ')}`)
}

function stopSignals(): { first: Promise<StopSignal>; second: AbortSignal } {
  const first = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  onSignals(first.resolve, () => second.abort())
  return { first: first.promise, second: second.signal }
}
