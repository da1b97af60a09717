import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guides: Xexun TK-103, YulongDa TK103 (github.com/plaspy-dev/docs)',
  steps: [
    'apn123456 {apn}',
    'apnuser123456 {user}',
    'apnpasswd123456 {password}',
    'adminip123456 {host} {port}',
    'gprsmode123456',
    't060s***n123456',
  ],
  note: 'For Xexun: 123456 is the password of a new device. Leave out the second and third SMS where the APN has no user. The host is an IP address here. The last SMS reports every 60 s. YulongDa: *APN#000000#<apn>#, then *IP#000000#<host>#<port>#. Clones vary.',
} satisfies Setup
