import type { Logger } from 'pino'
import { explained, UserError } from '../errors.ts'
import { endOnRequest } from './ending.ts'
import { shareDataDir } from './lock.ts'
import { ASSIGNMENT, type Assignment, type Ports } from './messages.ts'
import { type Monitor, type Readiness, startMonitor } from './monitor.ts'
import { answerForMetrics, tellSupervisor } from './supervised.ts'

/** `monitor`: where `/healthz`, `/readyz` and `/metrics` are served while the role runs on its own; null: nowhere. */
export interface RoleOptions {
  readonly name: string
  readonly logger: Logger
  readonly monitor: { readonly host: string; readonly port: number } | null
}

/** What a role is told at its start. */
export interface RoleContext {
  /** Of the private Redis, with its password; null: the one that the configuration names. */
  readonly redisUrl: string | null
  /** What listens where under this `start`; the role's own ports among them are those to take where it may choose. */
  readonly ports: Ports
}

/** A role that is ready. */
export interface Role {
  readonly ports?: Ports
  /** For `/readyz` of the monitor; without it, always ready. */
  readonly readiness?: () => Promise<Readiness>
  /** Stops accepting, finishes what has begun, closes. */
  close(): Promise<void>
}

/**
 * Runs a role as this process, under `start` or on its own, to the process' end: exit 0 once all is closed after a signal
 * or after the supervisor's end, 130 or 143 where a second signal or 10 s cut that short, 1 for a UserError, 2 for a fault.
 */
export function runRole(options: RoleOptions, start: (context: RoleContext) => Promise<Role>): void {
  const { logger } = options
  const fault = (error: unknown) => endWithFault(error, logger)
  process.on('uncaughtException', fault).on('unhandledRejection', fault)
  const started = begin(options, start)
  answerForMetrics()
  endOnRequest(async () => {
    logger.info('closing')
    await (await started).close()
  }, fault)
  started
    .then(({ ports = {} }) => announce(ports, logger))
    .catch(async (error) => {
      const known = explained(error)
      await (known instanceof UserError ? refuse(known) : fault(error))
    })
}

/** Whether this process was started by `start`; to be asked before `runRole`. */
export function isSupervised(): boolean {
  return process.env[ASSIGNMENT] !== undefined
}

async function begin({ monitor }: RoleOptions, start: (context: RoleContext) => Promise<Role>): Promise<Role> {
  const assignment = takeAssignment()
  if (assignment) shareDataDir(assignment.dataDir)
  const role = await start(assignment ?? { redisUrl: null, ports: {} })
  return monitor && !assignment ? monitored(role, await startMonitor({ ...monitor, readiness: role.readiness })) : role
}

/** Out of the environment at once: it has a password in it. */
function takeAssignment(): Assignment | undefined {
  const text = process.env[ASSIGNMENT]
  delete process.env[ASSIGNMENT]
  return text === undefined ? undefined : (JSON.parse(text) as Assignment)
}

function monitored(role: Role, monitor: Monitor): Role {
  return {
    ports: { ...role.ports, monitor: monitor.port },
    async close() {
      await Promise.all([role.close(), monitor.close()])
    },
  }
}

async function announce(ports: Ports, logger: Logger): Promise<void> {
  logger[process.connected ? 'debug' : 'info']({ ports }, 'ready')
  await tellSupervisor({ type: 'ready', ports })
}

async function refuse({ message }: UserError): Promise<void> {
  if (!process.connected) process.stderr.write(`${message}\n`)
  await tellSupervisor({ type: 'failed', message })
  process.exit(1)
}

/** Only the stack is logged: what hangs on an error may carry a URL with a key. */
function endWithFault(error: unknown, logger: Logger): never {
  logger.fatal({ stack: error instanceof Error ? error.stack : String(error) }, 'fault')
  process.exit(2)
}
