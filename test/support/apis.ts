import { PushApis } from '../../src/push/apis.ts'

/** The usual API alone, which is never asked. */
export const ONE_API = new PushApis(
  {
    client: { push: () => Promise.reject(new Error('asked')) },
    push: { concurrency: 1, max_requests_per_s: null },
    days: undefined,
  },
  new Map(),
)
