/* `start` for the supervisor's tests: node start.ts DIR ROLES-AS-JSON. */
import { fileURLToPath } from 'node:url'
import { UserError } from '../../../src/errors.ts'
import { createLogger } from '../../../src/observe/log.ts'
import { supervise } from '../../../src/process/start.ts'

const [dataDir, roles] = process.argv.slice(2) as [string, string]
const script = fileURLToPath(new URL('role.ts', import.meta.url))

try {
  process.exitCode = await supervise({
    dataDir,
    redis: { maxMemory: 64 * 1024 * 1024 },
    roles: JSON.parse(roles),
    command: (role) => [script, role, dataDir],
    logger: createLogger('start', { level: 'info', format: 'json' }),
  })
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
