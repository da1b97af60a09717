import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

/** A device that sends datagrams to a port, with a socket of its own. `from`: its address of loopback. */
export async function datagramPeer(port: number, from = '127.0.0.1') {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const heard: string[] = []
  socket.on('message', (bytes) => heard.push(bytes.toString()))
  await new Promise<void>((resolve) => socket.bind(0, from, resolve))
  return {
    heard,
    port: socket.address().port,
    /** Resolves when the next datagram has arrived, with those that came with it. */
    answered: () => once(socket, 'message').then(() => pause(0)),
    say: (text: string | Buffer) => socket.send(text, port, '127.0.0.1'),
  }
}
