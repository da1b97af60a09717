import type { Setup } from '../kit/index.ts'

export default {
  manual: 'The Things Stack: Webhooks (thethingsindustries.com/docs); ChirpStack: HTTP (chirpstack.io/docs)',
  by: 'settings',
  steps: [
    'The Things Stack: Integrations, Webhooks, custom webhook: base URL http://{host}:{port}, format JSON, enabled event: uplink message',
    'ChirpStack: Applications, Integrations, HTTP: payload encoding JSON, event endpoint URL http://{host}:{port}',
  ],
  note: 'The payload formatter (codec) of the device must be set there: without it the position stays in bytes that only it can read.',
} satisfies Setup
