import type { Setup } from '../kit/index.ts'

export default {
  manual: 'MAVProxy, startup options (ardupilot.org/mavproxy)',
  by: 'settings',
  steps: ['mavproxy.py --master=/dev/ttyACM0 --out=udp:{host}:{port}'],
  note: 'MAVProxy runs on the computer that the autopilot is connected to; --master names that connection.',
} satisfies Setup
