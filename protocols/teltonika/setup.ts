import type { Setup } from '../kit/index.ts'

export default {
  manual: 'wiki.teltonika-gps.com, FMB parameter list',
  steps: ['  setparam 2001:{apn};2002:{user};2003:{password};2004:{host};2005:{port};2006:0;113:1'],
  note: 'Two spaces in front: an empty SMS login and password. 2006:0 is TCP, 113:1 is Codec 8 Extended.',
} satisfies Setup
