import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Particle: Webhooks (docs.particle.io)',
  by: 'settings',
  steps: [
    'Console, Integrations, new webhook: event name loc, URL http://{host}:{port}, request type POST, format JSON, default fields',
  ],
} satisfies Setup
