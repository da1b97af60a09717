/*
 * Austin NB trackers (Poland). No specification is known: inferred from frames. UDP, text:
 *
 *   I;YYYY-MM-DD hh:mm:ss;Y;O;C;a;r;n;operator
 *
 *   I  phone number     Y, O  decimal degrees with a comma or a point     C  degrees     a, r  angle and radius of the cell
 *
 * Nothing is answered.
 */
import { type Draft, textProtocol, whole } from '../kit/index.ts'

const degrees = (text: string) => Number(text.replace(',', '.'))

export default textProtocol({
  name: 'austinnb',
  devices: 'Austin NB trackers',
  port: 5158,
  transports: ['udp'],
  frame: whole,
  fields: {
    north: { like: '-?\\d+[.,]\\d+', read: (text: string, draft: Draft) => void (draft.latitude = degrees(text)) },
    east: { like: '-?\\d+[.,]\\d+', read: (text: string, draft: Draft) => void (draft.longitude = degrees(text)) },
  },
  lines: [
    {
      like: '{id};{yyyy}-{month}-{day} {hour}:{minute}:{second};{north};{east};{course};{any}',
      fix: (draft, session) => draft.fix(session),
    },
    { like: '{id};{yyyy}-{any}', unknown: 'position' },
  ],
})
