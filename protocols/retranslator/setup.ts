import type { Setup } from '../kit/index.ts'

export default {
  manual: 'help.wialon.com: Protocoller, retranslators',
  by: 'settings',
  steps: ['New retranslator: protocol Wialon Retranslator, server {host}, port {port}; add the units, then start it'],
  note: 'The id of a unit in the retranslator is the id in devices.yaml.',
} satisfies Setup
