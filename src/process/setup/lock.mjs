import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const lock = fileURLToPath(new URL('../../../.setup.lock', import.meta.url))
const BEAT_MS = 1000
const STALE_MS = 10_000
const SETTLE_MS = 300

/**
 * Runs `action` while no other set-up of this folder runs. The holder touches the lock file every second: a lock that is not
 * touched for 10 s has no holder any more. A process id would not tell: ids are reused.
 * @param {() => Promise<void>} action
 */
export async function withLock(action) {
  const id = randomUUID()
  await acquire(id)
  process.once('exit', () => release(id))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  const beat = setInterval(() => existsSync(lock) && utimesSync(lock, new Date(), new Date()), BEAT_MS)
  await action()
  clearInterval(beat)
}

/** @param {string} id */
async function acquire(id) {
  if (create(id)) return
  process.stderr.write('Waiting for another set-up of this folder …\n')
  let seen = lastBeat()
  let since = Date.now()
  while (!create(id)) {
    await delay(100)
    if (Date.now() - since > STALE_MS && (await takeOver(id))) return
    if (lastBeat() === seen) continue
    seen = lastBeat()
    since = Date.now()
  }
}

/** @param {string} id */
function create(id) {
  try {
    writeFileSync(lock, id, { flag: 'wx' })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  }
}

function lastBeat() {
  return statSync(lock, { throwIfNoEntry: false })?.mtimeMs
}

/**
 * If several processes replace an abandoned lock at once, the last one has it.
 * @param {string} id
 */
async function takeOver(id) {
  writeFileSync(`${lock}.${id}`, id)
  renameSync(`${lock}.${id}`, lock)
  await delay(SETTLE_MS)
  return holds(id)
}

/** @param {string} id */
function release(id) {
  if (holds(id)) rmSync(lock, { force: true })
}

/** @param {string} id */
function holds(id) {
  return existsSync(lock) && readFileSync(lock, 'utf8') === id
}
