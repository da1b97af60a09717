import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: ATrack AL11 (github.com/plaspy-dev/docs)',
  by: 'settings',
  steps: [
    'AT$FORM=1,@P,0,""',
    'AT$TRAC=1,60,,,,,2',
    'AT$GPRS=1,"{apn}","{user}","{password}","{host}",{port},1,3,30,0,0',
  ],
  note: 'The first line chooses binary reports, the second one every 60 seconds.',
} satisfies Setup
