import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Jimi IoTHub: testing, JIMI protocol device (docs.jimicloud.com)',
  by: 'settings',
  steps: ['COREKITSW,0', 'UPLOAD,http://{host}:{port}/upload'],
  note: 'Restart the camera afterwards. 0 is the integration mode. Its reports have a server of their own: waybridge setup gt06.',
} satisfies Setup
