import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ports } from './messages.ts'

/** `<data_dir>/ports.json`: what listens where, for as long as it does. */
export interface PortsFile {
  /** Replaces it in one step. */
  write(ports: Ports): Promise<void>
  remove(): Promise<void>
}

/** The file of a data folder; what is asked of it is done one after the other. */
export function portsFile(dataDir: string): PortsFile {
  const file = join(dataDir, 'ports.json')
  const draft = `${file}.new`
  let last: Promise<void> = Promise.resolve()

  function next(action: () => Promise<void>): Promise<void> {
    last = last.then(action, action)
    return last
  }

  return {
    write: (ports) =>
      next(async () => {
        await writeFile(draft, `${JSON.stringify(ports)}\n`)
        await rename(draft, file)
      }),
    remove: () => next(() => rm(file, { force: true })),
  }
}
