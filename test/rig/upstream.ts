import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Behaviour, Request, Told } from './journal-api.ts'

/** The tracking API of a run, in a process of its own. */
export interface UpstreamApi {
  behave(behaviour: Behaviour): void
  /** Ends it; returns every request that it got, in order, and the numbers of those whose answers were sent whole. */
  end(): Promise<Journal>
}

export interface Journal {
  readonly requests: readonly Request[]
  readonly told: ReadonlySet<number>
}

export interface UpstreamOptions {
  /** The file that it writes. */
  readonly journal: string
  readonly port: number
  /** After how long it answers late: the client no longer waits then. */
  readonly lateMs: number
}

/** Resolves once it listens. */
export async function startUpstreamApi({ journal, port, lateMs }: UpstreamOptions): Promise<UpstreamApi> {
  const child = fork(API, [journal, String(port), String(lateMs)])
  await once(child, 'message')
  return {
    behave: (behaviour) => void child.send(behaviour),
    async end() {
      child.disconnect()
      await once(child, 'exit')
      const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n').filter(Boolean)
      const parsed = lines.map((line) => JSON.parse(line) as Request | Told)
      return {
        requests: parsed.filter((line) => 'n' in line),
        told: new Set(parsed.flatMap((line) => ('told' in line ? line.told : []))),
      }
    },
  }
}

const API = fileURLToPath(new URL('journal-api.ts', import.meta.url))
