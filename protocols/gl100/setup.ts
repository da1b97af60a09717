import type { Setup } from '../kit/index.ts'

export default {
  manual: 'GL100 @Track air interface protocol, TRACGL100AN002, §3.2.1',
  steps: ['AT+GTSRI=gl100,0,1,{apn},{user},{password},{host},{port},,20260101000000'],
  note: 'gl100 is the password of a new device. The host is an IP address here. 0 is GPRS, with SMS where it fails; 1 a TCP connection that is kept.',
} satisfies Setup
