/*
 * TR-20, TR-10 and clones. "Protocol v3.3.8 for TR20" was not at hand: inferred from frames. TCP and UDP, lines:
 *
 *   %%I,A,YYMMDDhhmmss,NY[ ]EO,S,C,t,…     position
 *   %%I,1                                  heartbeat; answer &&1
 *
 *   I  name     A  A: valid, L, V: not     Y, O  ddmm.mmmm behind the hemisphere     S  km/h     C  degrees     t  temperature
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'tr20',
  devices: 'TR-20, TR-10',
  acknowledges: 'some',
  port: 5018,
  transports: ['tcp', 'udp'],
  fields: { number: { like: '\\d+' } },
  lines: [
    { like: '%%{id},{valid},{ymd}{hhmmss},{ns}{latNmea}[ ]{ew}{lonNmea},{speedKmh},{course}[,{any}]' },
    { like: '%%{id},{valid},{ymd}{hhmmss},,{any}', none: 'no fix' },
    { like: '%%{id},{number}', none: 'heartbeat', answer: '&&{number}\r\n' },
    { like: '%%{any}', unknown: 'type' },
  ],
})
