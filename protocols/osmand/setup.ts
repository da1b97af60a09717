import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Traccar Client, OsmAnd: settings of the app',
  by: 'settings',
  steps: ['Server address: http://{host}:{port}', 'Device identifier: the id in devices.yaml'],
} satisfies Setup
