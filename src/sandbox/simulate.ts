import { createFleet, devicesYaml } from './fleet.ts'
import { durationOption, portsOption, speechesOption, vansOption, wholeNumber } from './options.ts'
import { listenToSignals } from './signals.ts'
import { type Progress, runSimulation } from './simulation.ts'
import { speeches } from './speak/index.ts'

/** Options as on the command line. */
export interface SimulateArguments {
  readonly target?: string
  readonly vans?: string
  readonly interval?: string
  readonly duration?: string
  /** Comma-separated. */
  readonly protocols?: string
  /** Each item is `name=port`. */
  readonly port?: readonly string[]
  readonly seed?: string
  /** Only print a devices.yaml for the vans. */
  readonly devices?: boolean
}

/**
 * Runs simulated vans against a gateway. Returns the exit code: 0 if every fix was acknowledged, else 1, or that of the
 * signal that ended it. @throws UserError for a wrong option.
 */
export async function simulateCommand(options: SimulateArguments): Promise<number> {
  const chosen = options.protocols === undefined ? speeches : speechesOption(options.protocols)
  const vans = createFleet(vansOption(options.vans ?? '20'), chosen)
  const plan = {
    host: options.target ?? '127.0.0.1',
    ports: portsOption(options.port ?? []),
    intervalMs: durationOption('--interval', options.interval ?? '5s', 1000),
    durationMs: durationOption('--duration', options.duration ?? '60s', 1000),
    seed: wholeNumber('--seed', options.seed ?? '1', 999_999_999),
  }
  if (options.devices) {
    write(devicesYaml(vans))
    return 0
  }
  const signals = listenToSignals()
  const hurry = signals.within(PATIENCE_AFTER_SIGNAL_MS)
  const ends = { patienceMs: PATIENCE_MS, stop: signals.stop, hurry }
  const outcome = await runSimulation({ ...plan, ...ends, vans, onProgress: print })
  print(outcome)
  if (outcome.acked < outcome.sent)
    write('Is every van configured? "simulate --devices" prints a devices.yaml with all of them.\n')
  write(`sent=${outcome.sent} acked=${outcome.acked}\n`)
  return outcome.acked === outcome.sent ? 0 : signals.exitCode()
}

function print({ phase, vans, sent, acked, troubled, trouble }: Progress): void {
  const state = phase === 'driving' ? `${vans} vans` : 'no new fixes'
  const told = trouble === undefined ? '' : `, ${troubled} without an answer: ${trouble}`
  write(`${state}, ${sent} fixes sent, ${acked} acknowledged, ${sent - acked} not yet${told}\n`)
}

function write(text: string): void {
  process.stdout.write(text)
}

/** Longer than it takes to send a lost packet again twice. */
const PATIENCE_MS = 30_000
const PATIENCE_AFTER_SIGNAL_MS = 5000
