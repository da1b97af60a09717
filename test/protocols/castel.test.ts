import { expect, it } from 'vitest'
import castel from '../../protocols/castel/index.ts'
import { ByteWriter, crc16X25, cut } from '../../protocols/kit/index.ts'
import { newSession } from '../support/rough.ts'

it('reads each packet of a datagram', () => {
  const packets = ['4009', '1003'].map((type) => {
    const w = new ByteWriter().ascii('@@').u16le(31).u8(4).ascii('213NX2016000777'.padEnd(20, '\0')).hex(type)
    return w.crc16le(crc16X25).ascii('\r\n').toBuffer()
  })
  expect(cut(Buffer.concat(packets), castel.udp.frame, newSession()).frames).toEqual(packets)
})
