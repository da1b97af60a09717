import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'

/**
 * Tells systemd that the service is ready and alive, where systemd wants to know (a unit with `Type=notify`). Its program
 * `systemd-notify` sends, since Node has no Unix datagram sockets: so the unit needs `NotifyAccess=all`.
 */
export class ServiceManager {
  readonly #environment: NodeJS.ProcessEnv
  readonly #logger: Logger
  #watchdog: NodeJS.Timeout | undefined
  #silent = false

  constructor(environment: NodeJS.ProcessEnv, logger: Logger) {
    this.#environment = environment
    this.#logger = logger
  }

  /**
   * Call it when everything is ready. With `WatchdogSec=` in the unit, systemd restarts the service if `isAlive` has
   * not returned true for that time. It is called four times in this time, and has a quarter of it to answer.
   */
  async ready(isAlive: (withinMs: number) => Promise<boolean>): Promise<void> {
    await this.#tell('READY=1', 'STATUS=ready')
    const { WATCHDOG_USEC } = this.#environment
    if (!WATCHDOG_USEC) return
    const everyMs = Number(WATCHDOG_USEC) / 1000 / 4
    this.#watchdog = setInterval(() => void this.#beat(isAlive(everyMs)), everyMs)
  }

  async stopping(): Promise<void> {
    clearInterval(this.#watchdog)
    await this.#tell('STOPPING=1', 'STATUS=stopping')
  }

  async #beat(answered: Promise<boolean>): Promise<void> {
    const alive = await answered
    if (!alive && !this.#silent) this.#logger.error('a process does not answer: systemd restarts all if that lasts')
    this.#silent = !alive
    if (alive) await this.#tell('WATCHDOG=1')
  }

  async #tell(...assignments: string[]): Promise<void> {
    if (!this.#environment.NOTIFY_SOCKET) return
    await run('systemd-notify', assignments, { env: this.#environment, timeout: TELL_MS }).catch((error: Error) =>
      this.#logger.warn({ reason: error.message }, `systemd was not told ${assignments[0]}`),
    )
  }
}

const run = promisify(execFile)
const TELL_MS = 5000
