import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Xexun GPS watch tracker, user manual, §5.15',
  steps: ['apn123456 {apn}', 'apnuser123456 {user}', 'apnpasswd123456 {password}', 'adminip123456 {host} {port}'],
  note: '123456 is the password of a new device. Leave out the second and third SMS where the APN has no user. The host is an IP address here.',
} satisfies Setup
