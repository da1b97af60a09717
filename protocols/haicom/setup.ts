import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Haicom HI-603 (github.com/plaspy-dev/docs)',
  steps: ['#0000,200,{apn},{user},{password}', '#0000,210,{host},{port},{port},{port},0', '#0000,250,0,60,0,0,0,0,0,0'],
  note: '0000 is the password of a new device. The last SMS reports every 60 seconds. The host is an IP address here.',
} satisfies Setup
