/*
 * Suntech ST200, ST300, ST340, ST400, ST600, ST900 and Universal (ST4300 …): "ST300/340 Operation Manual" 1.41 §6, "ST310U
 * Operation Manual" 1.08 §5, "Device Communication Guide, Suntech Messages to Back-End Server" 1.101. Text that ends with CR,
 * and two binary ("zip") kinds of reports; no checksum over positions. TCP without answers, and UDP.
 *
 *   ST300STT;I;…;D;T;…;Y;O;S;C;[s;]F;…       STT, EMG, EVT, ALT, UEX of ST… and SA…; s is missing in ST910;Location, Alert …
 *   ST300UEX;…;F;distance;volts;I/O;L;data;… data of L bytes may hold CR
 *   STT;I;M;fields by M                       Universal: bit n of M (hex) says that field n is there; ALT, UEX alike
 *   BDA;I;M;…;D;T;Y;O;…                       scan for sensors, with the place of the tracker
 *   ST300ALV;I   ST300CMD;Res;I;…   ST300NTW;Res;I;…   RES;I;…   ST300HTE;I;…      no position: alive, answer to a command, trip
 *
 *   02 LLLL HH IIIIIIIIII mm vvvv YYMMDDhhmmss ccbbcc AA aaaaaa OO oooooo SSSSss CCCCcc FF … 03   zip of ST300
 *   81 LLLL IIIIIIIIII MMMMMM fields by M                    zip of Universal; 82: alert
 *   AA LLLL IIIIIIIIII MMMMMM …(9 bytes) YYMMDDhhmmss YYYYYYYY OOOOOOOO …                        scan for sensors
 *
 *   I  id                 Y, O  degrees, ±         F  1: fix; of the zip bit 7, bits 6 and 5: south, west, then satellites
 *   D  YYYYMMDD           S  km/h                  A a, O o  degrees and their fraction in packed decimals
 *   T  hh:mm:ss           C  degrees               H  10 status, 11 emergency, 12 event, 13 alert
 *   L  length behind it   s  satellites
 *
 * Behind the fix stand the distance, the main power (V), inputs and outputs (the first: ignition; of Universal the
 * last), what raised the report, and later the backup battery (V) and the key of the driver (14 hex digits): these two
 * are recognised by their form, because their places differ between models. The id of zip of ST300 has nine digits and
 * a zero that fills up. Universal reports have backup battery and main power behind the fields of their mask: read from
 * frames. Kept: all other types.
 *
 * Answer over UDP, to all but ALV and answers to commands (manual of ST300/340, ADP): ST300ACK;I, to zip reports 15 IIIIIIIIII.
 * How ST910 and Universal are answered is not known.
 */
import { DecodeError, enveloped, type Message, type Protocol, type Session } from '../kit/index.ts'
import { frameLength } from './framing.ts'
import { text } from './text.ts'
import { universalZip, zip } from './zip.ts'

export default {
  name: 'suntech',
  devices: 'Suntech ST200, ST300, ST310U, ST340, ST400, ST600, ST910, ST4300 Universal',
  acknowledges: 'some',
  integrity: { none: 'the specification has none over positions' },
  tcp: { port: 5011, frame: frameLength },
  udp: { port: 5011, frame: frameLength },
  decode,
} satisfies Protocol

const ZIP = 0x02

function decode(frame: Buffer, { transport }: Session): Message {
  if (frame.length === 0) throw new DecodeError('truncated')
  return enveloped({ reply: transport === 'udp' ? acknowledgement(frame) : undefined }, () => {
    if (frame[0] === ZIP) return zip(frame)
    return frame[0] >= 0x80 ? universalZip(frame) : text(frame)
  })
}

/** A report with its model and id, but those that are not acknowledged. */
const REPORT = /^((?:ST|SA)\d{3,4})(?!ALV)[A-Z]{3};(\d{6,10});/
const ID_IN_ZIP = [4, 9] as const

function acknowledgement(frame: Buffer): Buffer | undefined {
  if (frame[0] === ZIP) return Buffer.of(0x15, ...frame.subarray(...ID_IN_ZIP))
  const [, model, id] = REPORT.exec(frame.toString('latin1', 0, 24)) ?? []
  return model === undefined ? undefined : Buffer.from(`${model}ACK;${id}`)
}
