import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `<fox><gps id="1" data="${many(',')}</fox>`, quotes: `<fox><gps id=${many('"')}</fox>` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '<fox><gps id="10" data="51,A,201126,085317,5231.5000,N,01324.6000,W,36,270,,1110,018C"/></fox>',
          device: '10',
          fixes: [{ time: '2026-11-20T08:53:17Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }],
        },
        {
          frame:
            '<fox><gps id="10" data="0,V,201126,085317,5231.5000,N,01324.6000,W,36,270,,1110111111110111 141 0 0 0 0 0 10010000 10142,0"/></fox>',
          device: '10',
          fixes: [
            {
              time: '2026-11-20T08:53:17Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              valid: false,
              said: { external_voltage: 14.1 },
            },
          ],
        },
        { frame: '<fox><x/></fox>' },
      ],
    },
  ],
} satisfies ProtocolCases
