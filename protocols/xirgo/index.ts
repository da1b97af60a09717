/*
 * Xirgo XT-2000, XT-4000, XT-6000 series. The "XT protocol" is not public: inferred from frames and the names of a form's fields.
 * TCP and UDP, text that ends with ##:
 *
 *   $$I,e,YYYY/MM/DD,hh:mm:ss,Y,O,H,S,a,d,r,C,s,P,w,f,B,…##     position, r: 0 or at least three digits
 *   $$I,e,YYYY/MM/DD,hh:mm:ss,Y,O,H,S,C,s,P,B,…##           position of older firmware; also MM/DD/YYYY
 *   $$I,e,…##                                             other reports
 *
 *   I  id     e  event     Y, O  decimal degrees     H  metres     S  mph     C  degrees     s  satellites     P  HDOP
 *   B  battery of the vehicle, V
 *
 * The setting `form` has the names of the fields that a device is configured to send, as Xirgo calls them:
 * 'UID,EV,D,T,LT,LN,AL,GSPT,HD,SV,HP'. Answer to all over UDP: !UDP_ACK,I,e
 */
import { type Draft, endsWith, type Said, type Session, textProtocol } from '../kit/index.ts'

const HEAD = '|$${id},{event},'
const TIME = '{hour}:{minute}:{second}'
const OLD = '{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop}[,{externalVolts}[,{any}]]'
/** The fields of a form that are read, in the order in which `arranged` puts them. */
const NAMES = ['UID', 'EV', 'D', 'T', 'LT', 'LN', 'AL', 'GSPT', 'HD', 'SV', 'HP', 'BV']

/** What the numbers of events mean, as far as frames show it: reports with the ignition on and off, a stop. */
const EVENTS: ReadonlyMap<string, Said> = new Map([
  ['4001', { ignition: true }],
  ['4002', { ignition: false }],
  ['4003', { ignition: true }],
  ['6031', { moving: false }],
])

export default textProtocol({
  name: 'xirgo',
  devices: 'Xirgo XT-2000, XT-4000, XT-6000',
  acknowledges: 'fixes',
  port: 5081,
  transports: ['tcp', 'udp'],
  frame: endsWith('##'),
  ends: '#',
  before: arranged,
  fields: {
    // Without "&" and "?": frames of CarTrack begin and end alike.
    id: { like: '\\w+' },
    event: { read: (text, draft) => draft.says(EVENTS.get(text) ?? {}) },
    rpm: { like: '0|\\d{3,5}' },
    way: {},
    fuel: {},
  },
  lines: [
    {
      like: `${HEAD}{yyyy}/{month}/{day},${TIME},{lat},{lon},{altitude},{speedMph},{any:2},{rpm},{course},{satellites},{hdop}[,{way}[,{fuel}[,{externalVolts}[,{any}]]]]`,
      answer,
    },
    { like: `${HEAD}{yyyy}/{month}/{day},${TIME},${OLD}`, answer },
    { like: `${HEAD}{month}/{day}/{yyyy},${TIME},${OLD}`, answer },
    {
      like: `form|{id},{event},{month}/{day}/{yyyy},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop},{externalVolts},`,
      answer,
    },
    { like: '|$${id},{event}[,{any}]', unknown: 'type', answer },
    {
      like: `form|{id},{event},{yyyy}/{month}/{day},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop},{externalVolts},`,
      answer,
    },
    { like: 'form|{id},{event},{any}', unknown: 'type', answer },
  ],
})

/** A frame of a form, with the fields that are read in one order, a comma behind each. */
function arranged(text: string, session: Session): string {
  if (!text.startsWith('$$')) return `|${text}`
  const [id] = text.slice(2).split(',', 1)
  const { form } = session.settingsOf(id)
  if (typeof form !== 'string') return `|${text}`
  const values = text.slice(2).split(',')
  const names = form.split(',')
  return `form|${NAMES.map((name) => values[names.indexOf(name)] ?? '').join(',')},`
}

function answer(draft: Draft, { transport }: Session): string | undefined {
  return transport === 'udp' ? `!UDP_ACK,${draft.device},${draft.text('event')}` : undefined
}
