import type { Setup } from '../kit/index.ts'

export default {
  manual: 'OwnTracks booklet, HTTP',
  by: 'settings',
  steps: ['Mode: HTTP', 'URL: http://{host}:{port}', 'UserID: the id in devices.yaml; password: its secret'],
} satisfies Setup
