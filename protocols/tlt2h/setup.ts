import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: V-SUN TLT-7B (github.com/plaspy-dev/docs)',
  steps: ['#803#0000#{apn}#{user}#{password}##', '#804#0000#{host}#{port}##'],
  note: '0000 is the password of a new device. #803#0000#<apn>## where the APN has no user. The host is an IP address here.',
} satisfies Setup
