import type { Setup } from '../kit/index.ts'

export default {
  manual: 'github.com/stanleyhuangyc/Freematics, firmware_v5/telelogger/config.h',
  by: 'settings',
  steps: ['#define SERVER_HOST "{host}"', '#define SERVER_PORT {port}', '#define CELL_APN "{apn}"'],
  note: 'In config.h, before the firmware is built. The protocol is UDP, as it is there.',
} satisfies Setup
