/*
 * A tracking service as a process of its own, for tests that kill it: `node service-process.ts <database file> <route>`
 * prints its port and serves company 7, courier 42 and the route.
 */
import { pino } from 'pino'
import { createTrackingService } from '../../../src/sandbox/tracking/service.ts'

const [, , databaseFile, route] = process.argv
const { port } = await createTrackingService({
  listen: { host: '127.0.0.1', port: 0 },
  databaseFile,
  provisioning: {
    companies: [{ company_id: '7', apikeys: ['key-7'], oauth_tokens: ['token-7'] }],
    routes: [{ route_id: route, courier_id: '42', company_id: '7' }],
  },
  timeLimitMs: 60_000,
  logger: pino(pino.destination(2)),
})
process.stdout.write(`${port}\n`)
