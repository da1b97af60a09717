import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Gator M508 (github.com/plaspy-dev/docs)',
  steps: ['SS,*{apn}*,*{user}*,*{password}*,*{host}*,*{port}*,*<id>*,*<telephone>*,*123456*'],
  note: '123456 is the password of a new device, <telephone> the number that it tells of alarms. Where the APN has no user, the SMS begins with S,*<apn>*, and goes on with the host.',
} satisfies Setup
