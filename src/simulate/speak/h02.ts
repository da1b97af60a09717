/*
 * Sinotrack ST-901: "GPRS communication protocol H02", text. `*HQ,id,V1,hhmmss,A,latitude,N,longitude,E,knots,course,
 * DDMMYY,status#`, answered with `*HQ,id,V4,V1,YYYYMMDDhhmmss#`, where the server's switch for it is on.
 */
import type { Fix } from '../../../protocols/kit/index.ts'
import type { Packet, Sender, StreamSpeech } from './speech.ts'
import { dayMonthYear, hoursMinutesSeconds, knots, nmeaLatitude, nmeaLongitude } from './units.ts'

/** A V1 a fix; no login. The answer names no fix: so the next is sent after it. */
export const h02: StreamSpeech = {
  name: 'h02',
  protocol: 'h02',
  transport: 'tcp',
  maxFixes: 1,
  packet,
  answers: (bytes) => bytes.indexOf('#') + 1,
}

function packet([fix]: readonly Fix[], { id }: Sender): Packet {
  const place = [...nmeaLatitude(fix.latitude), ...nmeaLongitude(fix.longitude)]
  const motion = [knots(fix.speed), String(Math.round(fix.heading ?? 0)).padStart(3, '0')]
  const fields = [hoursMinutesSeconds(fix.time), 'A', ...place, ...motion, dayMonthYear(fix.time), 'FFFFFBFF']
  const answered = `*HQ,${id},V4,V1,`
  return {
    bytes: Buffer.from(`*HQ,${id},V1,${fields.join()}#`),
    accepted: (answer) => answer.toString('latin1').startsWith(answered) || undefined,
  }
}
