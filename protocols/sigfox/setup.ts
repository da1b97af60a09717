import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Sigfox backend: custom callbacks (support.sigfox.com)',
  by: 'settings',
  steps: [
    'Device type, Callbacks, New, Custom: type DATA, UPLINK; URL http://{host}:{port}; method POST; content type application/json',
  ],
  note: 'The body is a JSON object with the variables device, time and data under these names.',
} satisfies Setup
