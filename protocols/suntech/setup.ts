import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Suntech ST300/340 operation manual 1.41: network parameters',
  steps: ['ST300NTW;<device id>;02;0;{apn};{user};{password};{host};{port};;;;'],
  note: '<device id> is the nine digits on the device: with others it ignores the command. Other models have their own name in front (ST340NTW, ST600NTW).',
} satisfies Setup
