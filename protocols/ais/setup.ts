import type { Setup } from '../kit/index.ts'

export default {
  manual: 'AIS-catcher, release notes of v0.45; gps2udp(1) of gpsd',
  by: 'settings',
  steps: ['AIS-catcher -u {host} {port}', 'gps2udp -a -n -u {host}:{port}'],
  note: 'The first line is for a receiver that AIS-catcher runs, the second for one that gpsd runs. Other receivers have an output over UDP in their settings.',
} satisfies Setup
