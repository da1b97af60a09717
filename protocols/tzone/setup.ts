import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: TZone AVL-05 (github.com/plaspy-dev/docs)',
  steps: [
    '*000000,011,{apn},{user},{password}#',
    '*000000,018,60,999#',
    '*000000,015,0,{host},{port}#',
    '*000000,016,1#',
  ],
  note: '000000 is the password of a new device. Leave out the user and the password of the APN where it has none. 018 are the seconds between reports, 016 switches GPRS on. The host is an IP address here.',
} satisfies Setup
