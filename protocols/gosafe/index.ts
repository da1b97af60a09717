/*
 * Gosafe G1S, G3S, G3C, G6S, G7S, G71, G737, G79: "Gosafe GPRS protocol" of G3S and successors; the binary frames are inferred
 * from one of each kind. TCP and UDP.
 *
 *   *GSvv,I,T,e,item,…$T,e,item,…#        v: version; records with a $ between them
 *   *GS02,I,GPS:t;A;Y;O;S;C;d,item,…#     the first version
 *   item  GPS:A;s;Y;O;S;C[;H[;p[;v]]]     position; SYS, GSM, COT …: other things
 *         ADC:external V;battery V;…      DTT:state;inputs;…   inputs in hexadecimal digits, bit 0: ignition
 *         ADC:0;external V;…;2;battery V     of the first version: numbers of inputs in front of the values
 *
 *   F8 xx 01 IIIIIIIIIIIIII record KKKK F8      F8 xx 04 IIIIIIIIIIIIII LLLL NN record… KKKK F8      1B escapes; N records
 *   record: TTTTTTTT BBBB block…      each block L x{L}, bit n of B: block n is there
 *   block 1: L MMMM F yyyyyyyy oooooooo SSSS CCCC HHHH pppp vvvv     position; block 0: the device and its versions
 *
 *   T  hhmmssDDMMYY; t and d its halves     A  A: valid, V, L: not     Y, O  degrees with the letter in front
 *   S  km/h    C  degrees    H  metres      s  satellites              p, v  HDOP, VDOP (of the binary frame 0.01)
 *   binary: T seconds since 2000, y, o 1e-6 degrees, F satellites in bits 0–4, K  CRC-16/XMODEM of x to before it;
 *   M  the fields of the position, by bits: F, y o, S, C, H, p, v; with other ones it is not read
 *
 * Answer: 1234.
 */
import { between, dialects, escaped, type Protocol } from '../kit/index.ts'
import { binary } from './binary.ts'
import { text } from './text.ts'

const FLAG = 0xf8
const ESCAPE = 0x1b
const escaping = escaped({
  flag: FLAG,
  escape: ESCAPE,
  codes: new Map([
    [0x00, ESCAPE],
    [0xe3, FLAG],
  ]),
})

const { frame, decode } = dialects([
  { when: '*', frame: between('*', '#'), decode: text },
  {
    when: FLAG,
    frame: escaping.frame,
    decode: (bytes, session) => binary(escaping.content(bytes), session),
  },
])

export default {
  name: 'gosafe',
  devices: 'Gosafe G1S, G3S, G3C, G6S, G7S, G71, G737, G79',
  acknowledges: 'fixes',
  integrity: {
    checksum: 'CRC-16/XMODEM of binary frames',
    covers: (bytes) => (bytes[0] === FLAG ? [1, -3] : [0, 0]),
  },
  escaping,
  tcp: { port: 5078, frame },
  udp: { port: 5078, frame },
  decode,
} satisfies Protocol
