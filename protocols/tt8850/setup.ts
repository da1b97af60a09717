import type { Setup } from '../kit/index.ts'

export default {
  manual:
    'Plaspy, device guide: SkyPatrol TT8850 (github.com/plaspy-dev/docs); Queclink GL300, @Track air interface protocol, §3.2',
  steps: [
    'AT+GTBSI=SM8570,{apn},{user},{password},,,,,0002$',
    'AT+GTSRI=SM8570,3,,,{host},{port},,,,0,0,,,,,0003$',
    'AT+GTFRI=SM8570,1,1,,,0000,2359,300,300,,,1F,,,,,,,,,0007$',
  ],
  note: 'SM8570 is the password of a new device. 3 is a TCP connection that is kept, as the second document says of the same command; the guide has 4, which is UDP. The last SMS reports every 300 s.',
} satisfies Setup
