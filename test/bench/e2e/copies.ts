import { createServer } from 'node:http'
import { freePorts } from '../../support/free-ports.ts'
import { listening } from '../../support/listening.ts'

/** Receivers of copies in this process: `taking` of them take everything, one more answers nothing. */
export async function startCopyReceivers(taking: number) {
  const [port, deadPort] = await freePorts(2)
  const living = createServer((request, response) => void request.resume().once('end', () => response.end()))
  const dead = createServer((request) => void request.resume())
  await Promise.all([listening(living, port), listening(dead, deadPort)])
  const copies = Array.from(
    { length: taking },
    (_, index) => `{ name: copy-${index}, to: "http://127.0.0.1:${port}/" }`,
  )
  return {
    /** The section `copies` of the configuration. */
    yaml: `[${[...copies, `{ name: dead, to: "http://127.0.0.1:${deadPort}/" }`].join(', ')}]`,
    close() {
      for (const server of [living, dead]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}
