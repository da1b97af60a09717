import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Jointech JT705C (github.com/plaspy-dev/docs)',
  steps: ['(<id>,2,S02,129,1,{host},{port},{apn})', '(<id>,2,S24,129,1,{user},{password})'],
  note: '<id> is the id of the device. Leave out the second SMS where the APN has no user.',
} satisfies Setup
