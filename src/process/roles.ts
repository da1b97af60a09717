import type { Logger } from 'pino'
import { type Kept, keepRunning } from './keep-running.ts'
import type { Metrics, Ports } from './messages.ts'
import { retiredMetrics } from './metrics-sum.ts'
import { type RoleProcess, startRoleProcess } from './role-process.ts'

export type RoleName = 'gateway' | 'worker' | 'admin' | 'tracking'

/**
 * What the roles' processes have in common. `command`: what Node is to run for one; `cut`: kills them all; `output`: the
 * open file for what they print, stderr if there is none.
 */
export interface RolesOptions {
  readonly dataDir: string
  readonly roles: Readonly<Partial<Record<RoleName, number>>>
  readonly command: (role: RoleName) => readonly string[]
  readonly logger: Logger
  readonly cut: AbortSignal
  readonly redisUrl: () => string | null
  /** Called whenever a process is ready: `ports` may have changed. */
  readonly changed: () => void
  readonly output?: number
}

/** The processes of all roles. */
export interface Roles {
  /** What listens where; a process that is started again is told, and takes the ports that it had. */
  readonly ports: Ports
  /** Resolves once each process of the role is ready; rejects with the UserError that kept one from that. */
  start(role: RoleName): Promise<void>
  /** Ends each process of the role for good. */
  stop(role: RoleName): Promise<void>
  /** Ends each process, to be started anew. */
  restart(): void
}

/** None runs before `start`. */
export function rolesOf(options: RolesOptions): Roles {
  const ports: Ports = {}
  const retired = retiredMetrics()
  const kept: { readonly role: RoleName; readonly process: Kept<RoleProcess> }[] = []
  const running = () => kept.flatMap(({ process }) => process.current() ?? [])

  async function collect(): Promise<Metrics[]> {
    return [retired.metrics, ...(await Promise.all(running().map((process) => process.metrics())))]
  }

  async function startOne(role: RoleName, signal: AbortSignal): Promise<RoleProcess> {
    const { dataDir, command, cut, redisUrl, changed, output } = options
    const assignment = { dataDir, redisUrl: redisUrl(), ports }
    const process = await startRoleProcess({ command: command(role), assignment, cut, collect, output }, signal)
    void process.exited.then(() => retired.add(process.latestMetrics()))
    Object.assign(ports, process.ports)
    changed()
    return process
  }

  return {
    ports,
    async start(role) {
      const begun = Array.from({ length: options.roles[role] ?? 0 }, () =>
        keepRunning({ name: role, logger: options.logger, start: (signal) => startOne(role, signal) }),
      )
      kept.push(...begun.map((process) => ({ role, process })))
      await Promise.all(begun.map(({ ready }) => ready))
    },
    async stop(role) {
      await Promise.all(kept.filter((one) => one.role === role).map(({ process }) => process.stop()))
    },
    restart() {
      for (const process of running()) void process.stop()
    },
  }
}
