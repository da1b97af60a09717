import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Tenet TA7: SMS commands (showdoc.com.cn/tenet2)',
  steps: ['*setapn,{apn},{user},{password}#', '*setweb,{host},{port},<id>#', '*gmt,8#'],
  note: '*setip in place of *setweb with an address in place of a name. <id> is the id in devices.yaml; *gmt,8# is the zone of the standard. Each maker of JT/T 808 terminals has commands of its own; what they set is in the standard: parameters 0010 (APN), 0013 (server), 0018 (TCP port).',
} satisfies Setup
