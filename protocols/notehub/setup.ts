import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Blues: Routing Data with Notehub (dev.blues.io)',
  by: 'settings',
  steps: ['Notehub, project, Routes, Create Route, General HTTP/HTTPS: URL http://{host}:{port}, no transformation'],
} satisfies Setup
