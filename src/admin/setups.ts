import * as z from 'zod'
import type { Operation } from './operation.ts'
import { SetupJson } from './schemas/setups.ts'

/** `GET /admin/setups`: what points the trackers of each protocol at this server, as `waybridge setup` prints it. */
export function setupOperation(setups: () => Promise<readonly SetupJson[]>): Operation {
  return {
    method: 'GET',
    path: '/admin/setups',
    id: 'listSetups',
    summary: 'List what points trackers at this server, by protocol: the ports, and the SMS or settings',
    answer: z.object({ results: z.array(SetupJson) }),
    // The instructions contain nothing about a company.
    companies: 'filtered',
    handle: async () => ({ results: await setups() }),
  }
}
