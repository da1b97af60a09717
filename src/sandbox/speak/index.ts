import { fix, osmand, owntracks } from './apps.ts'
import { castel } from './castel.ts'
import { eelink } from './eelink.ts'
import { egts } from './egts.ts'
import { gt06 } from './gt06.ts'
import { jt808 } from './jt808.ts'
import { meiligao } from './meiligao.ts'
import { meitrack } from './meitrack.ts'
import { laipac, megastek, t55, xexun } from './nmea.ts'
import type { Speech } from './speech.ts'
import { teltonika, teltonikaExtended, teltonikaUdp } from './teltonika.ts'
import { gl200, gps103, h02, jt600, suntech, tk103, totem, upro, watch, wialon } from './text.ts'

export type { DatagramSpeech, HttpSpeech, MqttSpeech, Packet, Speech, StreamSpeech } from './speech.ts'

/** The protocols of the demo's vans, in the order in which a fleet gets them: 15 protocols over four transports. */
export const demoSpeeches: readonly Speech[] = [
  teltonika,
  gt06,
  h02,
  wialon,
  osmand,
  owntracks,
  fix,
  teltonikaUdp,
  jt808,
  gl200,
  gps103,
  tk103,
  meitrack,
  watch,
  egts,
  eelink,
]

/** Everything that vans can speak. */
export const speeches: readonly Speech[] = [
  ...demoSpeeches,
  castel,
  t55,
  jt600,
  totem,
  laipac,
  upro,
  suntech,
  meiligao,
  megastek,
  xexun,
  teltonikaExtended,
]
