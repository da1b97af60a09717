import type { Setup } from '../kit/index.ts'

export default {
  manual: 'LeafSpy Help 1.5.0: Server',
  by: 'settings',
  steps: ['Settings, Server: enable it; URL {host}:{port}; ID: the id in devices.yaml; password: its secret'],
} satisfies Setup
