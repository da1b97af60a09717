import type { Setup } from '../kit/index.ts'

export default {
  manual: 'SUNSKY V520, user manual, §3.2.8; Plaspy, device guide: V-SUN V-680 (github.com/plaspy-dev/docs)',
  steps: ['#803#0000#{apn}#{user}#{password}##', '#804#0000#{host}#{port}##', '7100000'],
  note: '0000 is the password of a new device. #803#0000#<apn>## where the APN has no user. The host is an IP address here. The last SMS switches GPRS on.',
} satisfies Setup
