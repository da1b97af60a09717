import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/*
 * A DNS server on loopback (RFC 1035, §4.1): answers the question of a datagram with the address of its name, or that there is no such
 * name.
 *
 *   IIII FFFF 0001 NNNN 0000 AAAA  QNAME 0001 0001  [C00C 0001 0001 TTTTTTTT 0004 address]
 *
 *   I  id     F  flags     N  answers     A  additional records of the question (EDNS), left out of the answer
 */
const HEADER = 12
const [ANSWER, NO_SUCH_NAME] = [0x8180, 0x8183]

export interface NameServer {
  readonly port: number
  /** Address by name; may be changed at any time. */
  readonly addresses: Map<string, string>
  /** Set to true, it answers nothing. */
  silent: boolean
}

/** Starts one until the test is over. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const server: NameServer = { port: socket.address().port, addresses: new Map(), silent: false }
  socket.on('message', (question, { port, address }: RemoteInfo) => {
    if (!server.silent) socket.send(answer(question, server.addresses), port, address)
  })
  return server
}

function answer(question: Buffer, addresses: ReadonlyMap<string, string>): Buffer {
  const { name, end } = nameOf(question)
  const address = addresses.get(name)
  const head = Buffer.from(question.subarray(0, end + 4))
  head.writeUInt16BE(address === undefined ? NO_SUCH_NAME : ANSWER, 2)
  head.writeUInt16BE(address === undefined ? 0 : 1, 6)
  head.writeUInt16BE(0, 10)
  if (address === undefined) return head
  const record = Buffer.from('c00c00010001000000000004', 'hex')
  return Buffer.concat([head, record, Buffer.from(address.split('.').map(Number))])
}

/** The name of the question, and where its bytes end. */
function nameOf(question: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = HEADER
  for (; question[at] > 0; at += 1 + question[at])
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]).toLowerCase())
  return { name: labels.join('.'), end: at + 1 }
}
