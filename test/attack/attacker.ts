import type { Cost, Victim } from './attacker-connections.ts'
import { ATTACKS } from './attacks.ts'

/** One attack, in a process of its own: started with its name and the victim as JSON; tells what it cost, and ends when told. */
const [name, victim] = process.argv.slice(2)
const stop = new AbortController()
const cost: Cost = { bytes: 0, units: 0, received: 0, told: [] }
process.on('message', () => stop.abort()).on('disconnect', () => process.exit())
await ATTACKS[name as keyof typeof ATTACKS](JSON.parse(victim) as Victim, cost, stop.signal)
process.send?.({ type: 'cost', cost }, undefined, undefined, () => process.exit())
