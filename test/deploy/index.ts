import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { baseImages, productImage } from './images.ts'
import { COPY, missingProgram, unableBecause } from './place.mjs'
import { endAll, prepareSite } from './site.ts'

/*
 * Deploys the product by the commands of docker/README.md, in containers of its own: `npm run test:deploy`, with vitest's arguments
 * behind `--`. Exits with 77, skipped, if no container can run. Ends all that it started, also after a signal.
 */
const SKIPPED = 77
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 }

const reason = unableBecause() ?? missingProgram()
if (reason) {
  console.log(`skipped: ${reason}`)
  process.exit(SKIPPED)
}
await holdLock()
let vitest: ChildProcess | undefined
for (const [signal, code] of Object.entries(EXIT_CODES))
  process.on(signal, () => {
    process.exitCode = code
    killTests(signal)
  })
try {
  await prepareSite()
  await baseImages()
  await productImage(COPY)
  if (process.exitCode === undefined) process.exitCode = await runTests()
} finally {
  await endAll()
}

/** One run at a time on this machine: the kernel frees the name when its process ends. */
async function holdLock(): Promise<void> {
  const lock = createServer().listen('\0waybridge-deploy').unref()
  await once(lock, 'listening').catch((error: Error) => {
    throw new Error('another run of these tests is under way on this machine: wait for its end', { cause: error })
  })
}

/** Runs vitest in a process group of its own, and kills what is left of it. It ends with this process, also if that is killed. */
async function runTests(): Promise<number | string> {
  const args = ['--pdeathsig', 'KILL', 'vitest', 'run', '--project', 'deploy', ...process.argv.slice(2)]
  vitest = spawn('setpriv', args, { stdio: 'inherit', detached: true })
  const [code] = await once(vitest, 'exit')
  killTests('SIGKILL')
  return process.exitCode ?? code ?? 1
}

function killTests(signal: string): void {
  try {
    if (vitest?.pid) process.kill(-vitest.pid, signal)
  } catch {
    // None is left.
  }
}
