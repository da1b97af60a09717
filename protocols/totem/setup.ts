import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Totemtech AT09 (github.com/plaspy-dev/docs)',
  steps: ['*000000,002,{apn},{user},{password}#', '*000000,003,{host},{port},1', '*000000,019,1#'],
  note: '000000 is the password of a new device. The host is an IP address here. The last SMS turns acknowledgements on: without them nothing confirms a position.',
} satisfies Setup
