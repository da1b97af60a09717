import type { Setup } from '../kit/index.ts'

export default {
  manual: 'BOX tracker, communication protocol v1.5, §2, §6',
  steps: [
    '><password>,GPRS_APN,{apn};GPRS_USERNAME,{user};GPRS_PASSWORD,{password};SERVER1_ADDR,{host};SERVER1_PORT,{port}',
  ],
  note: 'One SMS, which begins with >; <password> is that of the tracker.',
} satisfies Setup
