/*
 * Smart watches PT60, i365 and clones. No specification is known: inferred from frames. TCP, text with marks at both ends:
 *
 *   @B#@|01|t|I|imsi|…|@R#@                          t  001 heartbeat, 003 status, 006 time: answer of type t + 1
 *   @G#@,V01,t,I,imsi,YYYYMMDDhhmmss,…,@R#@          t  13, 14: steps, pulse: answer of type 38
 *   @G#@,V01,6,I,imsi,YYYYMMDDhhmmss,Y;O,@R#@        position: the same answer
 *
 *   I  IMEI     Y, O  decimal degrees
 *
 *   Answers: @B#@|01|t|I|0|YYYYMMDDhhmmss|@E#@ and @G#@,V01,38,YYYYMMDDhhmmss,@R#@
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const answerOf = (type: string) => `@B#@|01|${type}|{imei}|0|{clock}|@E#@`
const ANSWER = '@G#@,V01,38,{clock},@R#@'

export default textProtocol({
  name: 'pt60',
  devices: 'PT60, i365',
  acknowledges: 'fixes',
  port: 5164,
  frame: endsWith('@R#@', '@E#@'),
  before: (text) => text.replace(/@[RE]#@$/, ''),
  fields: { imsi: { like: '\\d*' }, digits: { like: '\\d{14}' }, type: { like: '\\d+' } },
  lines: [
    { like: '@B#@|01|001|{imei}|{any}', none: 'heartbeat', answer: answerOf('002') },
    { like: '@B#@|01|003|{imei}|{any}', none: 'status', answer: answerOf('004') },
    { like: '@B#@|01|006|{imei}|{any}', none: 'time', answer: answerOf('007') },
    { like: '@B#@|01|{type}|{imei}|{any}', unknown: 'type' },
    { like: '@G#@,V01,6,{imei},{imsi},{yyyymmdd}{hhmmss},{lat};{lon}[,{any}]', answer: ANSWER },
    { like: '@G#@,V01,6,{imei},{any}', unknown: 'position', answer: ANSWER },
    { like: '@G#@,V01,13,{imei},{imsi},{any}', none: 'status', answer: ANSWER },
    { like: '@G#@,V01,14,{imei},{imsi},{any}', none: 'status', answer: ANSWER },
    { like: '@G#@,V01,1,{imei},{any}', none: 'login' },
    { like: '@G#@,V01,{type},{imei},{any}', unknown: 'type' },
  ],
})
