import type { Setup } from '../kit/index.ts'

export default {
  manual: 'flespi: streams (flespi.com/kb)',
  by: 'settings',
  steps: ['Telematics hub, Streams, new stream: protocol http, URI http://{host}:{port}'],
} satisfies Setup
