/*
 * A tracking service as a process of its own, for tests that kill it: `node service-process.ts <database file>` prints
 * its port and serves company 7, courier 42, route 1001.
 */
import { pino } from 'pino'
import { createTrackingService } from '../../src/tracking/service.ts'

const { port } = await createTrackingService({
  listen: { host: '127.0.0.1', port: 0 },
  databaseFile: process.argv[2],
  provisioning: {
    companies: [{ company_id: '7', apikeys: ['key-7'], oauth_tokens: ['token-7'] }],
    routes: [{ route_id: '1001', courier_id: '42', company_id: '7' }],
  },
  timeLimitMs: 60_000,
  logger: pino(pino.destination(2)),
})
process.stdout.write(`${port}\n`)
