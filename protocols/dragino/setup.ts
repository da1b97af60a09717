import type { Setup } from '../kit/index.ts'

export default {
  manual: 'The Things Stack: Webhooks (thethingsindustries.com/docs)',
  by: 'settings',
  steps: [
    'Integrations, Webhooks, custom webhook: base URL http://{host}:{port}, format JSON, enabled event: uplink message',
  ],
  note: "With Dragino's payload formatter for the uplink.",
} satisfies Setup
