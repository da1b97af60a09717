import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Appello 5P (github.com/plaspy-dev/docs)',
  steps: ['00000,apn,{apn},{user},{password}', '00000,ip,{host},{port}', '00000,t030s***n'],
  note: '00000 is the password of a new device. Leave out the user and the password of the APN where it has none. The host is an IP address here. The last SMS reports every 30 s.',
} satisfies Setup
