import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: TopFly TLW2-12BL (github.com/plaspy-dev/docs)',
  steps: ['GMT,0000,0#', 'APN,0000,{apn},{user},{password}#', 'IP,0000,{host} {port}#', 'TIMER,0000,60:60:0:0#'],
  note: '0000 is the PIN of a new device. Leave out the user and the password of the APN where it has none. The host is an IP address here. The last SMS reports every 60 seconds.',
} satisfies Setup
