import { setTimeout as pause } from 'node:timers/promises'
import { accountFor } from '../../src/sandbox/demo/account.ts'
import { createFleet, ROUTES_FROM } from '../../src/sandbox/fleet.ts'
import { speechesOption, usualPorts } from '../../src/sandbox/options.ts'
import { runSimulation } from '../../src/sandbox/simulation.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'

/*
 * Vans that send over HAProxy until SIGTERM, or for three minutes: node load.ts VANS PROTOCOLS TRACKING_URL OAUTH_TOKEN. Prints `sent=N acked=N`
 * each half second; at the end it reads all back from the tracking service, and prints `sent=N acked=N delivered=N lost=N`.
 */
const [vans, protocols, baseUrl, oauthToken] = process.argv.slice(2)
const fleet = createFleet(Number(vans), speechesOption(protocols))
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const { trips } = await runSimulation({
  host: '127.0.0.1',
  ports: usualPorts(),
  vans: fleet,
  intervalMs: 1000,
  durationMs: 180_000,
  patienceMs: 60_000,
  answerMs: 3000,
  seed: 1,
  keepTrips: true,
  stop: stop.signal,
  progressMs: 500,
  onProgress: ({ sent, acked }) => console.log(`sent=${sent} acked=${acked}`),
})
const client = createTrackingClient({ baseUrl, timeoutMs: 10_000, connections: 8 })
const journeys = fleet.map(({ id }, index) => {
  return { company: '1', route: String(ROUTES_FROM + index + 1), oauthToken, trip: trips.get(id)! }
})
const until = performance.now() + 60_000
let account = await accountFor(client, journeys)
for (; account.lost > 0 && performance.now() < until; account = await accountFor(client, journeys)) await pause(500)
const { sent, acked, delivered, lost } = account
console.log(`sent=${sent} acked=${acked} delivered=${delivered} lost=${lost}`)
process.exit(0)
