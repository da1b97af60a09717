import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Xirgo XT-2400 (github.com/plaspy-dev/docs)',
  steps: ['+XT:1002,{user},{password},{apn}', '+XT:1001,{port},{host},4,0,0'],
  note: 'The host is an IP address here.',
} satisfies Setup
