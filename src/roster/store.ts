import { writeRoster } from '../lanes/index.ts'
import { readFileNotes } from './file-notes.ts'
import type { RosterStore } from './file-writer.ts'
import type { Replica } from './replica.ts'
import { Roster } from './roster.ts'
import { changeOf } from './table.ts'

/** The roster in Redis, for the files of an installation. */
export function redisStore(replica: Replica, installation: string): RosterStore {
  const { redis } = replica
  return {
    get roster() {
      return replica.roster
    },
    get version() {
      return replica.version
    },
    notes: (names) => readFileNotes(redis, installation, names),
    refresh: () => replica.refresh(),
    async write(write, asOf) {
      const version = await writeRoster(redis, write, asOf)
      await replica.refresh()
      return version !== null
    },
  }
}

/** The roster of a process without Redis: what its files say. `changed` is called after each write. */
export function localStore(changed: () => void): RosterStore {
  const roster = new Roster()
  let version = 0
  return {
    roster,
    get version() {
      return version
    },
    notes: async () => ({ bases: new Map(), versions: new Map(), latest: new Map() }),
    refresh: async () => {},
    async write(write) {
      await roster.applyInSlices(changeOf(write, ++version))
      changed()
      return true
    },
  }
}
