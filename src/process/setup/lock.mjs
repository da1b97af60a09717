import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const lock = fileURLToPath(new URL('../../../.setup.lock', import.meta.url))
const BEAT_MS = 1000
const STALE_MS = 10_000

/**
 * Runs `action` while no other set-up of this folder runs. The holder touches the lock file every second: a lock that is not
 * touched for 10 s has lost its holder. Process ids would not work: they are reused. @param {() => Promise<void>} action
 */
export async function withLock(action) {
  if (!create()) {
    process.stderr.write('Waiting for another set-up of this folder …\n')
    do {
      await delay(100)
      const touchedAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
      if (Date.now() - touchedAt > STALE_MS) rmSync(lock, { force: true })
    } while (!create())
  }
  process.once('exit', () => rmSync(lock, { force: true }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), BEAT_MS)
  await action()
  clearInterval(beat)
}

/** Returns whether this process has the lock now. */
function create() {
  try {
    writeFileSync(lock, '', { flag: 'wx' })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  }
}
