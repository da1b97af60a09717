import { crc16Arc, type Fix } from '../../../protocols/kit/index.ts'
import type { Packet, PacketSender, StreamSpeech } from './speech.ts'
import { dayMonthYear, hoursMinutesSeconds, kilometresPerHour, knots, nmeaLatitude, nmeaLongitude } from './write.ts'

/*
 * Sinotrack ST-901: "GPRS communication protocol H02", text. `*HQ,id,V1,hhmmss,A,latitude,N,longitude,E,knots,course,
 * DDMMYY,status#`, answered with `*HQ,id,V4,V1,YYYYMMDDhhmmss#` by servers that have this switched on.
 */

/** One V1 for each fix, without a login. The next fix is sent after the answer, because the answer names no fix. */
export const h02: StreamSpeech = {
  name: 'h02',
  protocol: 'h02',
  transport: 'tcp',
  maxFixes: 1,
  packet: v1Packet,
  answers: (bytes) => bytes.indexOf('#') + 1,
}

function v1Packet([fix]: readonly Fix[], { id }: PacketSender): Packet {
  const place = [...nmeaLatitude(fix.latitude), ...nmeaLongitude(fix.longitude)]
  const motion = [knots(fix.speed), String(Math.round(fix.heading ?? 0)).padStart(3, '0')]
  const fields = [hoursMinutesSeconds(fix.time), 'A', ...place, ...motion, dayMonthYear(fix.time), 'FFFFFBFF']
  const answered = `*HQ,${id},V4,V1,`
  return {
    bytes: Buffer.from(`*HQ,${id},V1,${fields.join()}#`),
    accepted: (answer) => answer.toString('latin1').startsWith(answered) || undefined,
  }
}

/*
 * Wialon IPS 2.0 (Gurtam: "Wialon IPS communication protocol"): login #L#, one fix #D#, several #B#, each a line whose
 * CRC-16/ARC, in hex, covers everything between the second # and itself.
 */

/** Extended data for a fix, a black box for a backlog. */
export const wialon: StreamSpeech = {
  name: 'wialon',
  protocol: 'wialon',
  transport: 'tcp',
  maxFixes: 50,
  login: (id) => ({ bytes: line('L', `2.0;${id};NA;`), accepted: (answer) => verdict(answer, 'AL', 1) }),
  packet: wialonPacket,
  answers: (bytes) => bytes.indexOf('\n') + 1,
}

function wialonPacket(fixes: readonly Fix[]): Packet {
  return fixes.length === 1
    ? { bytes: line('D', `${record(fixes[0])};`), accepted: (answer) => verdict(answer, 'AD', 1) }
    : {
        bytes: line('B', fixes.map((fix) => `${record(fix)}|`).join('')),
        accepted: (answer) => verdict(answer, 'AB', fixes.length),
      }
}

/** date;time;lat1;lat2;lon1;lon2;speed;course;altitude;satellites;hdop;inputs;outputs;adc;ibutton;params */
function record(fix: Fix): string {
  const place = [...nmeaLatitude(fix.latitude), ...nmeaLongitude(fix.longitude)]
  const motion = [kilometresPerHour(fix.speed), fix.heading ?? 'NA', fix.altitude ?? 'NA', fix.satellites ?? 'NA']
  const when = [dayMonthYear(fix.time), hoursMinutesSeconds(fix.time)]
  return [...when, ...place, ...motion, fix.hdop ?? 'NA', 1, 0, '', 'NA', 'pwr_ext:2:13.85'].join(';')
}

function line(type: string, body: string): Buffer {
  const checksum = crc16Arc(Buffer.from(body)).toString(16).toUpperCase().padStart(4, '0')
  return Buffer.from(`#${type}#${body}${checksum}\r\n`)
}

/** Whether an answer such as #AD#1 accepts all of a packet; undefined where it answers something else. */
function verdict(answer: Buffer, type: string, all: number): boolean | undefined {
  const [, name, code] = /^#([A-Z]+)#(-?\d*)\r?\n$/.exec(answer.toString('latin1')) ?? []
  return name === type ? code === String(all) : undefined
}
