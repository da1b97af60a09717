/* Holds a data folder until it is killed: node lock.ts start|role DIR. */
import { pino } from 'pino'
import { lockDataDir, shareDataDir } from '../../../src/process/data-dir.ts'

const [as, dir] = process.argv.slice(2) as [string, string]

if (as === 'start') await lockDataDir(dir, pino({ enabled: false }))
else shareDataDir(dir)
console.error('locked')
setInterval(() => {}, 60_000)
