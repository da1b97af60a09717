import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ports } from './messages.ts'

/** `<data_dir>/ports.json`: what listens where, for as long as it does. */
export interface PortsFile {
  /** Replaces it in one step. */
  write(ports: Ports): Promise<void>
  remove(): Promise<void>
}

/** The file of a data folder. */
export function portsFile(dataDir: string): PortsFile {
  const file = join(dataDir, 'ports.json')
  const draft = `${file}.new`
  return {
    async write(ports) {
      await writeFile(draft, `${JSON.stringify(ports)}\n`)
      await rename(draft, file)
    },
    remove: () => rm(file, { force: true }),
  }
}
