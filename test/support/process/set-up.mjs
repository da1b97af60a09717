/* Takes the set-up's lock for a moment: node set-up.mjs LOCK-MODULE JOURNAL. */
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const [module, journal] = process.argv.slice(2)
/** @type {typeof import('../../../src/process/setup/lock.mjs')} */
const { withLock } = await import(module)

await withLock(async () => {
  appendFileSync(journal, 'begin ')
  await delay(100)
  appendFileSync(journal, 'end ')
})
