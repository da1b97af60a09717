/*
 * Xirgo XT-2000, XT-4000, XT-6000 series; sources: "Communication Specification and Data Format" of XT-2000-G, XT-2060-G and
 * XT4860, frames, and the names of a form's fields. TCP and UDP, text that ends with ##:
 *
 *   $$I,e,YYYY/MM/DD,hh:mm:ss,Y,O,H,S,a,d,r,C,s,P,w,f,B,…##     position, r: 0 or at least three digits
 *   $$I,e,YYYY/MM/DD,hh:mm:ss,Y,O,H,S,C,s,P,B,…##           position of older firmware; also MM/DD/YYYY
 *   $$I,e,MM/DD/YYYY;hh:mm:ss,Y,O,H,x,x,s,P,B,…##           XT2169: 1e-6°, 0.1 metres, P by ten, mV; from a frame alone
 *   $$I,e,…##                                             other reports
 *
 *   I  id     e  event     Y, O  decimal degrees     H  metres     S  mph     C  degrees     s  satellites     P  HDOP
 *   B  battery of the vehicle, V     N  a number in the last field: the optional sequence number
 *
 * The setting `form` has the names of the fields that a device is configured to send, as Xirgo calls them:
 * 'UID,EV,D,T,LT,LN,AL,GSPT,HD,SV,HP'. Answer over UDP: !UDP_ACK,e,N, as a user's log has it.
 */
import { type Draft, endsWith, type Said, type Session, textProtocol } from '../kit/index.ts'

const HEAD = '{sequence}|$${id},{event},'
const TIME = '{hour}:{minute}:{second}'
const OLD = '{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop}[,{externalVolts}[,{any}]]'
/** The fields of a form that are read, in the order in which `arranged` puts them. */
const NAMES = ['UID', 'EV', 'D', 'T', 'LT', 'LN', 'AL', 'GSPT', 'HD', 'SV', 'HP', 'BV']

/** What the numbers of events mean; 4003 as frames show it. */
const EVENTS: ReadonlyMap<string, Said> = new Map<string, Said>([
  ['4001', { ignition: true }],
  ['4002', { ignition: false }],
  ['4003', { ignition: true }],
  ['6009', { alarms: ['power_cut'] }],
  ['6010', { alarms: ['power_restored'] }],
  ['6011', { ignition: true }],
  ['6012', { ignition: false }],
  ['6017', { alarms: ['tow'] }],
  ['6030', { moving: true }],
  ['6031', { moving: false }],
])

export default textProtocol({
  name: 'xirgo',
  devices: 'Xirgo XT-2000, XT-4000, XT-6000',
  acknowledges: 'some',
  port: 5081,
  transports: ['tcp', 'udp'],
  frame: endsWith('##'),
  ends: '#',
  before: arranged,
  fields: {
    // Without "&" and "?": frames of CarTrack begin and end alike.
    id: { like: '\\w+' },
    event: { read: (text, draft) => draft.says(EVENTS.get(text) ?? {}) },
    sequence: { like: '\\d*' },
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
      like: `${HEAD}{month}/{day}/{year};${TIME},{lat/1000000},{lon/1000000},{altitude/10},{any},{any},{satellites},{hdop/10},{externalVolts/1000}[,{any}]`,
      answer,
    },
    {
      like: `{sequence}|form|{id},{event},{month}/{day}/{yyyy},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop},{externalVolts},`,
      answer,
    },
    { like: '{sequence}|$${id},{event}[,{any}]', unknown: 'type', answer },
    {
      like: `{sequence}|form|{id},{event},{yyyy}/{month}/{day},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites},{hdop},{externalVolts},`,
      answer,
    },
    { like: '{sequence}|form|{id},{event},{any}', unknown: 'type', answer },
  ],
})

/** A frame behind the number in its last field; of a form, with the fields that are read in one order, a comma behind each. */
function arranged(text: string, session: Session): string {
  const last = text.slice(text.lastIndexOf(',') + 1)
  return `${SEQUENCE.test(last) ? last : ''}|${orderly(text, session)}`
}

const SEQUENCE = /^\d{1,10}$/

function orderly(text: string, session: Session): string {
  if (!text.startsWith('$$')) return text
  const [id] = text.slice(2).split(',', 1)
  const { form } = session.settingsOf(id)
  if (typeof form !== 'string') return text
  const values = text.slice(2).split(',')
  const names = form.split(',')
  return `form|${NAMES.map((name) => values[names.indexOf(name)] ?? '').join(',')},`
}

function answer(draft: Draft, { transport }: Session): string | undefined {
  const sequence = draft.text('sequence')
  return transport === 'udp' && sequence !== '' ? `!UDP_ACK,${draft.text('event')},${sequence}` : undefined
}
