/*
 * Wialon IPS 2.0 (Gurtam: "Wialon IPS communication protocol"): login #L#, one fix #D#, several #B#, each a line whose
 * CRC-16/ARC, in hex, covers what stands between the second # and itself.
 */
import { crc16Arc, type Fix } from '../../../protocols/kit/index.ts'
import type { Packet, StreamSpeech } from './speech.ts'
import { dayMonthYear, hoursMinutesSeconds, kilometresPerHour, nmeaLatitude, nmeaLongitude } from './units.ts'

/** Extended data for a fix, a black box for a backlog. */
export const wialon: StreamSpeech = {
  name: 'wialon',
  protocol: 'wialon',
  transport: 'tcp',
  maxFixes: 50,
  login: (id) => ({ bytes: line('L', `2.0;${id};NA;`), accepted: (answer) => verdict(answer, 'AL', 1) }),
  packet,
  answers: (bytes) => bytes.indexOf('\n') + 1,
}

function packet(fixes: readonly Fix[]): Packet {
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

/** Of #AD#1 and the like, whether the number is the one for "all of it". */
function verdict(answer: Buffer, type: string, all: number): boolean | undefined {
  const [, name, code] = /^#([A-Z]+)#(-?\d*)\r?\n$/.exec(answer.toString('latin1')) ?? []
  return name === type ? code === String(all) : undefined
}
