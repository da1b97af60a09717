import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Queclink, @Track air protocol: APN of GL601 v10, BSS of GV500CNA v3 (qdc.queclinksz.com)',
  steps: ['AT@APN=gl601###,,{apn},{user},{password},0,,0001$', 'AT@BSS=gl601###,,,{host},{port},0,0,60,0,0,,,0002$'],
  note: 'gl601### is the password of a new device; other models have their own name there. The first 0 behind the port is TCP.',
} satisfies Setup
