import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Tramigo T23 (github.com/plaspy-dev/docs)',
  steps: ['GPRS,APN,{apn},{user},{password}', 'GPRS,Connect,{host},{port},tcp'],
  note: 'The host is an IP address here. Set,GPRSMsgResponse,0 would turn acknowledgements off.',
} satisfies Setup
