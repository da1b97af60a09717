import type { Setup } from '../kit/index.ts'

export default {
  manual:
    'San Jose Navigation CT-58, user manual, §4.19; Plaspy, device guide: Sanav CT-24 (github.com/plaspy-dev/docs)',
  steps: [
    '#username,0000,3,{apn},{user},{password}*',
    '#username,0000,18,{host}:{port}*',
    '#username,0000,14,9*',
    '#username,0000,6,60,9999*',
  ],
  note: 'username and 0000 are the name and the password of a new device. The last two SMS send positions to the server, every 60 seconds.',
} satisfies Setup
