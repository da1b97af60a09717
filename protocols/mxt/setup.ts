import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Maxtrack MXT-140 (github.com/plaspy-dev/docs)',
  steps: ['0000,<id>,2,0,{apn},{user},{password},{host},{port},,.'],
  note: '0000 is the password of a new device, <id> its identifier. The host is an IP address here.',
} satisfies Setup
