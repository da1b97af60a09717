import { isIPv4 } from 'node:net'

interface HeaderParts {
  readonly command?: number
  readonly family?: number
  readonly tlvs?: Buffer
}

/** A PROXY header of version 2 for a connection from this address. */
export function proxyV2(address: string, port: number, { command = 0x21, family, tlvs }: HeaderParts = {}): Buffer {
  const source = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : groupsOf(address)
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(port)
  ports.writeUInt16BE(5027, 2)
  const rest = Buffer.concat([source, Buffer.alloc(source.length, 1), ports, tlvs ?? Buffer.alloc(0)])
  const fixed = Buffer.from('0d0a0d0a000d0a515549540a00000000', 'hex')
  fixed[12] = command
  fixed[13] = family ?? (source.length === 4 ? 0x11 : 0x21)
  fixed.writeUInt16BE(rest.length, 14)
  return Buffer.concat([fixed, rest])
}

function groupsOf(address: string): Buffer {
  const [first, last = []] = address.split('::').map((side) => side.split(':').filter(Boolean))
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return Buffer.from([...first, ...zeros, ...last].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
