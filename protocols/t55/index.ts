/*
 * T55: NMEA 0183 sentences over TCP and UDP, from GPS modules and routers (u-blox, CradlePoint, Sierra Wireless, MultiTech, …).
 * A sentence ends with a line feed; its checksum, the XOR between $ and *, may be missing. The device names itself in a line
 * of its own, in front of a sentence, or behind it:
 *
 *   $PGID,I*CC   $GPFID,I   $GPSTN,I   $DEVID,I*CC   $PSIWMDID,I*CC   $PCPTI,I,…   $IMEI=I   IMEI I   I     no position
 *   [I[,]]$GPRMC,T,A,Y,N,O,E,S,C,D,…*CC[,s,I[,i,x,b…]]  position; answer OK1
 *   [I]$GPGGA,T,Y,N,O,E,q,s,d,H,…*CC  $GPGLL,Y,N,O,E,T,A*CC  $PUBX,00,T,Y,N,O,E,H,…   position without a date
 *   $GPRMA,A,Y,N,O,E,,,S,C,…                       position without a time
 *   $TRCCR,YYYYMMDDhhmmss.sss,A,y,o,S,C,H,b  $ID,I,…,La,y,N,Lo,o,E,…  QZE,I,…,y,o,S,C,A,i,…       position
 *   $GPIOP,…,V,v*CC                                external voltage, battery voltage
 *   No#x                                           a GoPass AVL-901 begins like this, its IMEI in the next line
 *
 *   T     hhmmss.sss, UTC     A  A: valid, V: not       S  knots (km/h in PUBX)     d  HDOP         q  0: no fix
 *   D     DDMMYY              Y, O  ddmm.mmmm           C  degrees                  s  satellites
 *   y, o  decimal degrees     N, E  hemispheres         H  metres               i  1: ignition on
 *   b     battery, %; it is inferred, as are i, V and v
 *
 * What has no date is as near as can be to its arrival. A position in front of the name is kept until the name arrives.
 */
import {
  type Draft,
  type Fix,
  GGA,
  GLL,
  optionalNumber,
  RMC,
  type Session,
  sessionState,
  textProtocol,
} from '../kit/index.ts'

export default textProtocol({
  name: 't55',
  devices: 'NMEA 0183 over TCP or UDP: u-blox, Maxon, CradlePoint, Sierra Wireless',
  acknowledges: 'some',
  integrity: { sum: 'xor', from: '$', to: '*', digits: 2, optional: true },
  port: 5005,
  transports: ['tcp', 'udp'],
  fields: {
    talker: { like: '[A-Z]{2}' },
    name: { like: '[A-Za-z\\d_-]+[ ,:;]?', read: (text, draft) => void (draft.device = text.replace(/[ ,:;]$/, '')) },
    /** The prefix of MultiTech modems, in front of the name. */
    mark: { like: '[&#%!]{1,4}' },
    separator: { like: '[ =:,]' },
    mode: { like: '[A-Z]+', read: (text, draft) => void (draft.valid = /[^N]/.test(text)) },
    quiet: { like: 'GSA|GSV|VTG|ZDA|GST|GBS|DTM' },
    besides: { read: readBesides },
    number: { like: '\\d+', read: (text, draft) => void (draft.device = text) },
    /** NF of a u-blox: no fix. */
    status: { like: '[A-Z\\d]{2}', read: (text, draft) => void (draft.valid = text !== 'NF') },
  },
  fix,
  lines: [
    {
      like: `\${talker}RMC,${RMC}[,[{any}*{any},{satellites},{imei}]{besides}]`,
      answer,
    },
    { like: `\${talker}GGA,${GGA},{any}` },
    { like: `\${talker}GLL,${GLL}{any}` },
    { like: '${talker}GNS,{hms},{latNmea},[{ns}],{lonNmea},[{ew}],[{mode}],{satellites},{hdop},{altitude},{any}' },
    { like: `[{mark}]{name}[/{imei}/]\${talker}RMC,${RMC}{any}`, answer },
    { like: `[{mark}]{name}\${talker}GGA,${GGA},{any}` },
    {
      like: '$PUBX,00,{hms},{latNmea},[{ns}],{lonNmea},[{ew}],{altitude},{status},{accuracy},{any},{speedKmh},{course},{any:2},{hdop},{any:2},{satellites},{id},{any}',
    },
    { like: '$GPRMA,[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],,,{speedKnots},{course},{any}' },
    { like: '$TRCCR,{yyyymmdd}{hms},{valid},{lat},{lon},{speedKnots},{course},{altitude}[,{batteryPercent}],{any}' },
    {
      like: '$ID,{id},{any:8},GPSEX,{valid},D,{dmy},T,{hhmmss},S,{any}:{satellites},La,{lat},{ns},Lo,{lon},{ew},{any}',
    },
    { like: 'QZE,{id},{any},{ddmmyyyy},{hhmmss},{lat},{lon},{speedKnots},{course},{valid},[{ignition}]{any}' },
    { like: '[$]IMEI{separator}{id}[*{any}]', none: 'login', fix: kept },
    { like: '{number}', none: 'login', fix: kept },
    ...['PGID', 'GPFID', 'DEVID', 'PSIWMDID'].map((type) => ({
      like: `$${type},{id}[*{any}]`,
      none: 'login',
      fix: kept,
    })),
    { like: '$GPSTN,{id}[,{any}][*{any}]', none: 'login', fix: kept },
    { like: '$PCPTI,{id},{any}', none: 'login', fix: kept },
    { like: '$CONNECT,{id},{any}', none: 'login', fix: kept },
    { like: 'No#{any}', none: 'status' },
    { like: '$GPTXT,NET,{id},{any}', none: 'status' },
    { like: '${talker}{quiet},{any}', none: 'status' },
    { like: '$GPIOP,{any:6},{externalVolts},{batteryVolts}*{any}', none: 'status' },
    { like: '$GPIOP,{any}', none: 'status' },
    { like: '${any}', unknown: 'type' },
  ],
})

/** Behind the IMEI: the ignition, a reading, the charge of the battery. */
const BESIDES = /^,([01]),(?:\d+,(\d+))?/

function readBesides(text: string, draft: Draft): void {
  const [, ignition, charge] = BESIDES.exec(text) ?? []
  if (ignition !== undefined) draft.says({ ignition: ignition === '1', battery_percent: optionalNumber(charge) })
}

/** A position is answered for that is known to be of a device. */
function answer(draft: Draft): string | undefined {
  return draft.none === undefined ? 'OK1\r\n' : undefined
}

/** The last position of a connection whose device is not known yet. */
const state = sessionState<{ fix?: Fix }>(() => ({}))

function fix(draft: Draft, session: Session): Fix | undefined {
  const read = draft.fix(session)
  if ((draft.device ?? session.device) !== undefined) return read
  state(session).fix = read
  draft.none = 'no device yet'
  return undefined
}

/** The position that came before the device named itself. */
function kept(_: Draft, session: Session): Fix | undefined {
  const held = state(session).fix
  state(session).fix = undefined
  return held
}
