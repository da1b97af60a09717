import { createServer } from 'node:http'

/**
 * A minimal tracking API in a process of its own: counts the positions of each push and answers 200 after `delayMs`.
 * Over IPC: ready with its port; every 100 ms how many positions came; on 'samples' all (courier, timestamp, answered at).
 */
const delayMs = Number(process.argv[2] ?? 0)
const keepSamples = process.argv[3] === 'samples'
const NEEDLE = Buffer.from('"timestamp":')
const samples: [courier: number, timestamp: number, answeredAt: number][] = []
let positions = 0
let requests = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    if (delayMs > 0) setTimeout(answer, delayMs)
    else answer()

    function answer(): void {
      response.writeHead(200, { 'content-length': 0 }).end()
      requests++
      count(request.url ?? '', body)
    }
  })
})

function count(url: string, body: Buffer): void {
  const now = performance.timeOrigin + performance.now()
  for (let at = body.indexOf(NEEDLE); at >= 0; at = body.indexOf(NEEDLE, at + 12)) {
    positions++
    if (keepSamples)
      samples.push([Number(url.split('/')[4]), Number.parseInt(body.toString('latin1', at + 12, at + 24)), now])
  }
}

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', port: (server.address() as { port: number }).port })
})
setInterval(() => process.send?.({ type: 'progress', positions, requests }), 100)
process.on('message', (message) => {
  if (message === 'samples') process.send?.({ type: 'samples', samples })
})
process.on('disconnect', () => process.exit())
