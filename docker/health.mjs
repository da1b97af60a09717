/*
 * The health check of a container that runs `start`: node docker/health.mjs DATA_DIR. Exit 0 if every role has started
 * (only then is there a ports.json) and /readyz answers 200: devices get acknowledgements. Otherwise exit 1 and the reason.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

try {
  const { admin } = JSON.parse(readFileSync(join(process.argv[2], 'ports.json'), 'utf8'))
  const answer = await fetch(`http://127.0.0.1:${admin}/readyz`, { signal: AbortSignal.timeout(4000) })
  process.stdout.write(await answer.text())
  process.exitCode = answer.ok ? 0 : 1
} catch (error) {
  process.stdout.write(String(error))
  process.exitCode = 1
}
