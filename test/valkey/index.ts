import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findValkey } from '../support/valkey.mjs'

/*
 * Runs the tests that are about Redis with a Valkey in its place: `npm run test:valkey`, with vitest's arguments behind `--`.
 * Exits with 77, skipped, if there is no Valkey.
 */
const TESTS = [
  'test/redis',
  'test/store',
  'test/push',
  'test/roster',
  'test/gateway',
  'test/process/redis.test.ts',
  'test/process/foreign-backup.test.ts',
  'test/e2e/backup.test.ts',
]
const SKIPPED = 77

const command = findValkey()
if (command) {
  const env = { ...process.env, WAYBRIDGE_REDIS_SERVER: command }
  const given = process.argv.slice(2)
  const files = given.some((argument) => argument.includes('test/')) ? [] : TESTS
  const projects = ['own', 'shared', 'long'].flatMap((project) => ['--project', project])
  const vitest = spawn('vitest', ['run', ...projects, ...files, ...given], { env, stdio: 'inherit' })
  const [code] = await once(vitest, 'exit')
  process.exitCode = code ?? 1
} else process.exitCode = SKIPPED
