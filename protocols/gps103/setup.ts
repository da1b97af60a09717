import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Coban GPS-303, user manual, §6',
  steps: [
    'apn123456 {apn}',
    'apnuser123456 {user}',
    'apnpasswd123456 {password}',
    'adminip123456 {host} {port}',
    'gprs123456',
    'fix030s***n123456',
  ],
  note: '123456 is the password of a new device. Leave out the second and third SMS where the APN has no user. The last one reports every 30 s.',
} satisfies Setup
