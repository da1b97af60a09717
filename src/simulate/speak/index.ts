import { fix, osmand, owntracks } from './apps.ts'
import { gt06 } from './gt06.ts'
import type { Speech } from './speech.ts'
import { teltonika, teltonikaExtended, teltonikaUdp } from './teltonika.ts'
import { h02, wialon } from './text.ts'

export type { DatagramSpeech, HttpSpeech, MqttSpeech, Packet, Speech, StreamSpeech } from './speech.ts'

/** Everything that vans can speak, in the order in which a fleet gets it. */
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
