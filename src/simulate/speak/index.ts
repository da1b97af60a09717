import { fix } from './fix.ts'
import { gt06 } from './gt06.ts'
import { h02 } from './h02.ts'
import { osmand } from './osmand.ts'
import { owntracks } from './owntracks.ts'
import type { Speech } from './speech.ts'
import { teltonika, teltonikaExtended, teltonikaUdp } from './teltonika.ts'
import { wialon } from './wialon.ts'

export type { DatagramSpeech, HttpSpeech, MqttSpeech, Packet, Speech, StreamSpeech } from './speech.ts'

/** All that vans can speak, in the order in which it is dealt out. */
export const speeches: readonly Speech[] = [
  teltonika,
  gt06,
  h02,
  wialon,
  osmand,
  owntracks,
  fix,
  teltonikaUdp,
  teltonikaExtended,
]
