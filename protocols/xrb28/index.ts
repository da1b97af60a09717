/*
 * Omni scooter and bicycle locks (XRB28): "Omni lock protocol", TCP, lines:
 *
 *   *SCOR,OM,I,D0,x,hhmmss.ss,A,Y,N,O,E,s,P,DDMMYY,H,M,m#     position; *HBCR alike
 *   *TRAR,OM,I,D0,N,Y,E,O,s,P,u#     position of a pet tracker, inferred from a frame, where D0 is Dimension0
 *   *SCOR,OM,I,Q0,…#     sign-in     *SCOR,OM,I,H0,…#     heartbeat     W0, L0, L1, E0: alarm, unlocked,
 *   locked, fault     others: state of the lock, answers to commands. Behind I a time of 12 digits may stand.
 *
 *   Q0,V,B,…     H0,x,V,x,B,c     V  battery, 0.01 V     B  %     c  1: is charged     W0,a  a  1: moved, 3: removed, 4: battery low
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     s  satellites     P  HDOP     H  metres     m  kind of fix
 *   u  unix seconds
 *
 * Answer to W0, L0, L1, E0, which come again without it: FFFF *SCOS,OM,I,Re,W0#, with 000000000000 behind I where a time stands
 */
import { type Draft, textProtocol } from '../kit/index.ts'

const HEAD = '*{kind}R,{maker},{imei},[{stamp},]'

export default textProtocol({
  name: 'xrb28',
  devices: 'Omni XRB28 locks',
  port: 5180,
  ends: '#',
  fields: {
    kind: { like: '[A-Z]{3}' },
    stamp: { like: '\\d{12}' },
    place: { like: 'D0|Dimension0' },
    event: { like: 'W0|L0|L1|E0' },
    alarm: { alarms: { 1: 'movement', 3: 'tampering', 4: 'low_battery' } },
    maker: { like: '[A-Z]{2}' },
    state: { like: 'H0|S[0-9]|I0|G0|C0|V0|W0|R0|L[0-9]|E0' },
  },
  lines: [
    {
      like: `${HEAD}D0,{any},{hms},{valid},{latNmea},{ns},{lonNmea},{ew},{satellites},{hdop},{dmy},{altitude},{any}`,
    },
    { like: `${HEAD}{place},{ns},{latNmea},{ew},{lonNmea},{satellites},{hdop},{unix}[,{any}]` },
    { like: `${HEAD}D0,{any}`, none: 'no fix' },
    { like: `${HEAD}Q0[,{batteryVolts/100}[,{batteryPercent}[,{any}]]]`, none: 'login' },
    { like: `${HEAD}H0,{any},{batteryVolts/100},{any},{batteryPercent}[,{charging}][,{any}]`, none: 'heartbeat' },
    { like: `${HEAD}W0,{alarm}[,{any}]`, none: 'status', answer: confirmation },
    { like: `${HEAD}{event}[,{any}]`, none: 'status', answer: confirmation },
    { like: `${HEAD}{state}[,{any}]`, none: 'status' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})

function confirmation(draft: Draft): Buffer {
  const [kind, maker, id, event] = ['kind', 'maker', 'imei', 'event'].map((name) => draft.text(name))
  const stamp = draft.text('stamp') === '' ? '' : '000000000000,'
  return Buffer.from(`\xff\xff*${kind}S,${maker},${id},${stamp}Re,${event || 'W0'}#\n`, 'latin1')
}
