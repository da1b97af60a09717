import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Program } from './debian-program.mjs'
import { until } from './listen.ts'
import { endChild } from './processes.ts'
import { temporaryDir } from './running.ts'

/** A Mosquitto of its own, which ends with the test. */
export interface Mosquitto {
  readonly port: number
  /** Ends it; it keeps sessions and messages on its disk. */
  stop(signal?: NodeJS.Signals): Promise<void>
  start(): Promise<void>
}

/** Starts Mosquitto at a port of this machine. `more`: further lines of mosquitto.conf. */
export async function startMosquitto({ command, env }: Program, port: number, more = ''): Promise<Mosquitto> {
  const dir = await temporaryDir()
  const file = join(dir, 'mosquitto.conf')
  const own = `listener ${port} 127.0.0.1
persistence true
persistence_location ${dir}/
autosave_on_changes true
autosave_interval 1
max_queued_messages 0
user root
${more}
`
  await writeFile(file, /allow_anonymous/.test(own) ? own : `${own}allow_anonymous true\n`)
  let child: ChildProcess | undefined
  const broker: Mosquitto = {
    port,
    async start() {
      child = spawn(command, ['-c', file], { env: { ...process.env, ...env }, stdio: 'ignore' })
      await until(async () => {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect').finally(() => socket.destroy())
      })
    },
    async stop(signal = 'SIGTERM') {
      if (child) await endChild(child, signal)
    },
  }
  await broker.start()
  onTestFinished(() => broker.stop('SIGKILL'))
  return broker
}
