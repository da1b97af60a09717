import type { Setup } from '../kit/index.ts'

export default {
  manual: 'PathAway GPS 5, "Remote Send/Receive Formats" (pathaway.com/prerelease5/remoteformats.htm)',
  by: 'settings',
  steps: ['Remote sending, destination address: Post http://{host}:{port}/'],
  note: 'PathAway adds UserName, Password and LOC to it; UserName is the id in devices.yaml. Where the app asks for the two, the document does not say.',
} satisfies Setup
