/*
 * Portman GT, GST and PTM trackers. Inferred from frames; A is from the manual of the GST8000 (1.1). TCP, lines:
 *
 *   %%I,A,T,P,S,C,…      $PTMLA,I,A,T,P,S,C,…      $EXT,I,A,T,P,S,C,…
 *
 *   I  id       A  A: four satellites and more, B: three, L: no fix      T  YYMMDDhhmmss      P  Nddmm.mmmmEdddmm.mmmm      S  km/h      C  degrees
 *
 * What follows the course depends on the kind of frame: %% and $PTMLA have four fields, satellites and HDOP, $EXT has two
 * fields and satellites. Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

const PLACE = '{id},{status},{ymd}{hhmmss},{ns}{latNmea}{ew}{lonNmea},{speedKmh},[{course}]'

export default textProtocol({
  name: 'portman',
  devices: 'Portman GT, GST and PTM trackers',
  port: 5211,
  absent: 'NA',
  fields: { status: { like: '[ABVL]', read: (text, draft) => void (draft.valid = text === 'A' || text === 'B') } },
  lines: [
    { like: `$PTMLA,${PLACE},{any:4},{satellites},{hdop}[,{any}]` },
    { like: `%%${PLACE},{any:4},{satellites},{hdop}[,{any}]` },
    { like: `$EXT,${PLACE},{any:2},{satellites}[,{any}]` },
    { like: '$PTMLA,{id},{any}', unknown: 'type' },
    { like: '$EXT,{id},{any}', unknown: 'type' },
    { like: '%%{id},{any}', unknown: 'type' },
  ],
})
