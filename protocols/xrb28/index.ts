/*
 * Omni scooter and bicycle locks (XRB28): "Omni lock protocol", TCP, lines:
 *
 *   *SCOR,OM,I,D0,x,hhmmss.ss,A,Y,N,O,E,s,P,DDMMYY,H,M,m#     position; *HBCR alike
 *   *SCOR,OM,I,Q0,…#     sign-in     *SCOR,OM,I,H0,…#     heartbeat     others: state of the lock, answers to commands
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     s  satellites     P  HDOP     H  metres     m  kind of fix
 *
 * Nothing is answered here: the answers of the protocol confirm commands and locking, which we do not send.
 */
import { textProtocol } from '../kit/index.ts'

const HEAD = '*{kind},{maker},{imei},'

export default textProtocol({
  name: 'xrb28',
  devices: 'Omni XRB28 locks',
  port: 5180,
  ends: '#',
  fields: {
    kind: { like: '[A-Z]{4}' },
    maker: { like: '[A-Z]{2}' },
    state: { like: 'H0|S[0-9]|I0|G0|C0|V0|W0|R0|L[0-9]|E0' },
  },
  lines: [
    {
      like: `${HEAD}D0,{any},{hms},{valid},{latNmea},{ns},{lonNmea},{ew},{satellites},{hdop},{dmy},{altitude},{any}`,
    },
    { like: `${HEAD}D0,{any}`, none: 'no fix' },
    { like: `${HEAD}Q0[,{any}]`, none: 'login' },
    { like: `${HEAD}{state}[,{any}]`, none: 'status' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})
