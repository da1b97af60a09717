import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Machine } from './site.ts'
import { killAtEnd, untilSo } from '../support/processes.ts'
import type { Version } from '../upgrade/version.ts'

/** A role that is replaced by that of another version. */
export class ReplacedRole {
  readonly name: string
  readonly #machine: Machine
  readonly #output: number
  #child: ChildProcess | undefined

  /** `output`: the open file that it prints to. */
  constructor(name: string, machine: Machine, output: number) {
    this.name = name
    this.#machine = machine
    this.#output = output
  }

  /** Ends the process that runs and starts that of the version; resolves once it is ready. Answers the exit code of the first. */
  async replace({ cli }: Version): Promise<number | null> {
    const code = await this.end()
    const command = [cli, this.name, '--config', this.#machine.dir]
    this.#child = spawn(process.execPath, command, { stdio: ['ignore', this.#output, this.#output] })
    const child = this.#child
    killAtEnd(child)
    const isOver = async () => child.exitCode !== null || (await this.#isReady())
    if (!(await untilSo(isOver, { withinMs: READY_MS }))) throw new Error(`${this.name} is not ready`)
    if (child.exitCode !== null) throw new Error(`${this.name} ended with ${child.exitCode}`)
    return code
  }

  /** Ends it by SIGTERM, after a while by SIGKILL; answers the exit code, 0 where it did not run. */
  async end(): Promise<number | null> {
    const child = this.#child
    if (!child || child.exitCode !== null) return child?.exitCode ?? 0
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
    await once(child, 'exit')
    clearTimeout(timer)
    return child.exitCode
  }

  async #isReady(): Promise<boolean> {
    const url = `http://127.0.0.1:${this.#machine.monitorPort}/readyz`
    return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok
  }
}

/** Of a program that was unpacked just now, nothing is compiled yet. */
const READY_MS = 120_000
const END_MS = 15_000
