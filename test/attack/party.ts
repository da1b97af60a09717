import type { Cost } from './attacker-connections.ts'
import { PARTIES } from './parties.ts'

/** A party that a gateway talks to, in a process of its own: started with its name; attacks, ends and tells its cost when told. */
const [name] = process.argv.slice(2)
const stop = new AbortController()
const cost: Cost = { bytes: 0, units: 0, received: 0, told: [] }
const { settings, begin } = await PARTIES[name as keyof typeof PARTIES](cost)
process
  .on('disconnect', () => process.exit())
  .on('message', ({ type }: { type: string }) => {
    if (type === 'begin') begin(stop.signal)
    if (type !== 'stop') return
    stop.abort()
    process.send?.({ type: 'cost', cost })
  })
process.send?.({ type: 'ready', settings })
