import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A JSON answer to raw bytes. */
export interface RawAnswer {
  readonly status: number
  readonly type: string | undefined
  readonly message: unknown
}

/** Sends raw bytes on a new connection and reads the answer. */
export async function raw(port: number, bytes: string, host = '127.0.0.1'): Promise<RawAnswer> {
  const socket = connect(port, host)
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  const text = await answerOn(socket)
  socket.destroy()
  const [head, body] = text.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    type: /^content-type: (.*)$/im.exec(head)?.[1],
    message: (JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? '{}') as { message?: unknown }).message,
  }
}

/** Reads a connection up to the end of a JSON object. */
export async function answerOn(socket: Socket): Promise<string> {
  let text = ''
  while (!/\r\n\r\n.*\}/s.test(text)) {
    const [part] = (await once(socket, 'data')) as [Buffer]
    text += part.toString()
  }
  return text
}
