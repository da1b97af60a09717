import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `$HX,0001,${ID}${many(',')}\n`, digits: `$HX,0001,${many('1')}\n` },
  frames: [
    {
      title: 'a login and another type',
      frames: [
        {
          frame: `$HX,0001,${ID},e92c,933402042499509,55792760080,secret,01,a8d940a9,#,50,\r\n`,
          device: ID,
          secret: 'secret',
          none: 'login',
          reply: `$HX,1001,${ID},e92c,OK,#,00,\r\n`,
        },
        { frame: `$HX,0002,${ID},1\r\n`, device: ID, fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
