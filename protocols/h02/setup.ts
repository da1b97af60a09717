import type { Setup } from '../kit/index.ts'

export default {
  manual: 'SinoTrack ST-901, user manual: SMS commands',
  steps: ['8030000 {apn} {user} {password}', '8040000 {host} {port}', '7100000'],
  note: '0000 is the password of a new device. Leave out the user and the password of the APN where it has none. The last SMS switches to GPRS. Clones vary.',
} satisfies Setup
