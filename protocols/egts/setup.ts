import type { Setup } from '../kit/index.ts'

export default {
  manual: 'help.wialon.com: Protocoller, retranslators',
  by: 'settings',
  steps: ['New retranslator: protocol EGTS, server {host}, port {port}; add the units, then start it'],
  note: 'For what Wialon relays. The id of a unit in the retranslator is the id in devices.yaml. Terminals are set up with the tool of their maker.',
} satisfies Setup
