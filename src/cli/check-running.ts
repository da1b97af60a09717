import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { StatusJson } from '../admin/schemas/status.ts'
import type { Files } from '../config/files.ts'
import type { Config } from '../config/schema.ts'
import { UserError } from '../errors.ts'
import { readPorts } from '../process/listener-ports.ts'
import { findAdminPort } from './admin-port.ts'
import { readStatus } from './client.ts'

/**
 * Resolves to the findings about files from the `start` that runs on a folder: refused files, and settings that need a
 * restart. Empty if none runs, or if its admin port does not answer.
 */
export async function findingsOfFiles(
  dir: string,
  { data_dir }: Config,
  files: Files,
): Promise<StatusJson['findings']> {
  try {
    if (!(await readPorts(data_dir))?.admin) return []
    await untilSeen(files)
    const { status } = await readStatus(await findAdminPort({ config: dir }))
    return status.findings.filter(({ code, subject }) => OF_FILES.has(code) && subject.host === hostname())
  } catch (error) {
    if (error instanceof UserError || (error as NodeJS.ErrnoException).code !== undefined) return []
    throw error
  }
}

/** Waits until running processes have read files that were written a moment ago. */
async function untilSeen({ gateway, devices, routes }: Files): Promise<void> {
  const written = await Promise.all(
    [gateway, ...devices, ...routes].map(({ source: { file } }) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  await setTimeout(Math.min(SEEN_MS, Math.max(0, Math.max(...written) + SEEN_MS - Date.now())))
}

const OF_FILES = new Set(['config_refused', 'restart_needed'])
/** A file is read within a second; its findings come with the next sign of life, and the next look at these. */
const SEEN_MS = 5000
