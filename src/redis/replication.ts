import type { Redis } from 'ioredis'
import { grouped } from './grouped.ts'

/** A write that has not reached the disks of enough replicas: it may be lost with the primary, so it does not count. */
export class NotReplicated extends Error {}

/** Holds the answers of writes back until the replicas have them as well. One for each connection. */
export class Replication {
  readonly #redis: Redis
  readonly #replicas: number
  /** Counts connections. `WAIT` covers only writes of its own connection; on a new connection it confirms nothing earlier. */
  #connection = 0
  readonly #wait = grouped((connections: number[]) => this.#askReplicas(connections))

  constructor(redis: Redis, replicas: number) {
    this.#redis = redis
    this.#replicas = replicas
    redis.on('close', () => this.#connection++)
  }

  /** Resolves to the answer of a write once the replicas have it. Rejects if that is not certain within a second. */
  async confirmed<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    const connection = this.#connection
    const answer = await write()
    if (!(await this.#wait(connection))) throw new NotReplicated(`fewer than ${this.#replicas} replicas have the write`)
    return answer
  }

  /** One WAIT confirms all earlier writes, so writes share a WAIT as they share an append. */
  async #askReplicas(connections: readonly number[]): Promise<boolean[]> {
    const asked = this.#connection
    const reached = await this.#redis.wait(this.#replicas, WAIT_MS)
    const isCovered = reached >= this.#replicas && asked === this.#connection
    return connections.map((connection) => isCovered && connection === asked)
  }
}

/** Far below the timeout of commands, since it blocks its connection. */
const WAIT_MS = 1000
