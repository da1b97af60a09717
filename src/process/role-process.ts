import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from '../errors.ts'
import type { Runnable } from './keep-running.ts'
import { ASSIGNMENT, type Assignment, type FromRole, type Metrics, type Ports, type ToRole } from './messages.ts'

const METRICS_MS = 1000

/** A role's process that is ready. */
export interface RoleProcess extends Runnable {
  readonly pid: number
  readonly ports: Ports
  /** Its metrics now; the last ones known where it does not answer within a second. */
  metrics(): Promise<Metrics>
  /** What it last told of them. */
  latestMetrics(): Metrics
}

/**
 * How to start one: `command` is what Node is to run; `collect`: the metrics of all processes, for a role that asks;
 * `cut`: when it is aborted, the process is killed; `output`: the open file for what it prints, stderr if there is none.
 */
export interface RoleStart {
  readonly command: readonly string[]
  readonly assignment: Assignment
  readonly cut: AbortSignal
  readonly collect: () => Promise<Metrics[]>
  readonly output?: number
}

/** Starts a role's process in a session of its own, so that a Ctrl-C reaches its supervisor alone; resolves once it is ready. */
export async function startRoleProcess(options: RoleStart, signal: AbortSignal): Promise<RoleProcess> {
  const { output = 2 } = options
  const child = spawn(process.execPath, [...options.command], {
    env: { ...process.env, [ASSIGNMENT]: JSON.stringify(options.assignment) },
    stdio: ['ignore', output, output, 'ipc'],
    detached: true,
    signal: options.cut,
    killSignal: 'SIGKILL',
  })
  const exited = whenExited(child)
  const terminate = () => child.kill('SIGTERM')
  signal.addEventListener('abort', terminate)
  try {
    const ports = await whenReady(child, exited)
    answerCollections(child, options)
    return { pid: child.pid as number, ports, exited, ...metricsOf(child), stop: () => stop(child, exited) }
  } finally {
    signal.removeEventListener('abort', terminate)
  }
}

/** How it ended, in two words. */
function whenExited(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, by) => resolve(by ?? `exit ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
}

function whenReady(child: ChildProcess, exited: Promise<string>): Promise<Ports> {
  return new Promise((resolve, reject) => {
    let mistake: string | undefined
    child.on('message', (message: FromRole) => {
      if (message.type === 'ready') resolve(message.ports)
      if (message.type === 'failed') mistake = message.message
    })
    const refusal = (end: string) => (mistake ? new UserError(mistake) : new Error(`it ended at its start: ${end}`))
    void exited.then((end) => reject(refusal(end)))
  })
}

function answerCollections(child: ChildProcess, { collect }: RoleStart): void {
  child.on('message', (message: FromRole) => {
    if (message.type === 'collect') void collect().then((processes) => tell(child, { type: 'collected', processes }))
  })
}

/** One question at a time, however often it is put: a stopped process does not find a thousand of them when it goes on. */
function metricsOf(child: ChildProcess): Pick<RoleProcess, 'metrics' | 'latestMetrics'> {
  let latest: Metrics = []
  let asked: PromiseWithResolvers<void> | undefined
  child.on('message', (message: FromRole) => {
    if (message.type !== 'metrics') return
    latest = message.metrics
    asked?.resolve()
    asked = undefined
  })
  async function metrics(): Promise<Metrics> {
    if (!asked) tell(child, { type: 'ask_metrics' })
    asked ??= Promise.withResolvers<void>()
    await Promise.race([asked.promise, delay(METRICS_MS, undefined, { ref: false })])
    return latest
  }

  return { metrics, latestMetrics: () => latest }
}

/** A process that is about to end may have closed its channel: then nobody wants to be told. */
function tell(child: ChildProcess, message: ToRole): void {
  if (child.connected) child.send(message, () => {})
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  await exited
}
