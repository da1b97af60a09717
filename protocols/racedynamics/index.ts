/*
 * Race Dynamics. No specification is known: inferred from frames. Lines, which have nothing but their beginning of NMEA.
 *
 *   $GPRMC,12,DDMMYY,hhmmss,I,          login
 *   $GPRMC,15,NN,H,record,record…       positions, of the device that logged in
 *
 *   #,hhmmss,v,AAAA.AAAA,N,OOOOO.OOOO,E,SSS,DDMMYY,HHHH,UU,…,%,D,x{5},P,x,B,…,%,#
 *
 *   N  how many records     v  A: a fix       A, O  ddmm.mmmm, dddmm.mmmm     H  altitude, m
 *   I  IMEI                 S  speed, knots   U  satellites
 *   D  the driver's card    P, B  external power, own battery, 0.01 V (inferred)
 *
 * Answer to each line: $GPRMC, its type, date and time of the arrival, IMEI. A record that was cut off is unreadable.
 */
import { type Draft, type Session, sessionState, textProtocol } from '../kit/index.ts'

const STATE = '[-.0-9A-Za-z,]*'

export default textProtocol({
  name: 'racedynamics',
  devices: 'Race Dynamics trackers',
  acknowledges: 'fixes',
  port: 5195,
  fields: { type: { like: '\\d+' }, state: { like: STATE }, more: { like: STATE, read: readMore } },
  lines: [
    { like: '$GPRMC,{type},{dmy},{hhmmss},{imei}[,{any}]', none: 'login', answer },
    {
      like: '$GPRMC,{type},{any:2},#,{records}',
      fixes: {
        split: ',#,#,',
        like: '{hms},{valid},{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{dmy},{altitude},{satellites},{state}%,{more}%[,#]',
      },
      answer,
    },
    { like: '$GPRMC,{type},{any}', unknown: 'type', answer },
  ],
})

const MORE = /^(\w{16})(?:,\w*){5},(\d+),\w*,(\d+),/

function readMore(text: string, draft: Draft): void {
  const [, driver, external, battery] = MORE.exec(text) ?? []
  if (battery !== undefined) draft.says({ driver, external_voltage: +external / 100, battery_voltage: +battery / 100 })
}

const loginOf = sessionState<{ imei?: string }>(() => ({}))

function answer(draft: Draft, session: Session): string | undefined {
  const login = loginOf(session)
  const imei = (login.imei = draft.device ?? login.imei) ?? session.device
  if (imei === undefined) return undefined
  const [, year, month, day, time] = /^..(..)-(..)-(..)T(.{8})/.exec(new Date(session.now).toISOString()) ?? []
  return `$GPRMC,${draft.text('type')},${day}${month}${year},${time.replaceAll(':', '')},${imei},\r\n`
}
