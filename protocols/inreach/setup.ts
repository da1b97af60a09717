import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Garmin: IPC Outbound (developer.garmin.com/inReach)',
  by: 'settings',
  steps: ['explore.garmin.com, Portal Connect: outbound URL http://{host}:{port}, schema V2 or later'],
} satisfies Setup
